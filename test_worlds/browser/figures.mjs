// The pictures of the README, taken from pages: node figures.mjs FOLDER_OF_PAGES FOLDER_OF_PICTURES.
import { chromium } from 'playwright-core';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const [pages, pictures] = process.argv.slice(2).map((folder) => resolve(folder));
const flags = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking', '--no-first-run'];
const browser = await chromium.launch({ executablePath: process.env.BROWSER ?? '/usr/bin/chromium', args: flags });

async function open(name, width, height) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: 'light' });
    await page.goto(`file://${join(pages, name)}.html`);
    await page.waitForFunction(() => window.pcontact?.ready, null, { timeout: 120000 });
    return page;
}

const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

async function shoot(page, selector, picture) {
    await drawn(page);
    await page.locator(selector).first().screenshot({ path: join(pictures, `${picture}.png`) });
    console.log(`written: ${picture}.png`);
}

// A stage at some moments, one picture each; without the panel beside it.
async function stage(name, picture, times, { width = 900, height = 640, contacts = true } = {}) {
    const page = await open(name, width, height);
    await page.addStyleTag({ content: '.pc-info{display:none}.pc-show{grid-template-columns:1fr}.pc-stage{height:320px}' });
    await drawn(page);
    await page.evaluate((on) => (window.pcontact.replay.stage.goHome(), window.pcontact.replay.stage.setContacts(on)), contacts);
    for (const time of times) {
        await page.evaluate((t) => window.pcontact.seek(t), time);
        await shoot(page, '.pc-stage', times.length > 1 ? `${picture}_${time}` : picture);
    }
    await page.close();
}

async function element(name, selector, picture, width) {
    if (!existsSync(`${join(pages, name)}.html`)) return;
    const page = await open(name, width, 900);
    await shoot(page, selector, picture);
    await page.close();
}

await stage('stack10', 'stack', [10]);
await stage('balance2', 'balance2', [0, 2, 5, 12], { contacts: false });
await element('balance2', '.pc-plot[data-quantity=infeasibility_contact]', 'infeasibility', 760);
await element('papers', '.pc-figure', 'slopes', 760);
await element('grasp', '.pc-figure', 'grasp', 760);
await browser.close();
