// The pictures of the README, taken from pages: node figures.mjs FOLDER_OF_PAGES FOLDER_OF_PICTURES.
import { launch } from './browser.mjs';
import { join, resolve } from 'node:path';

const [pages, pictures] = process.argv.slice(2).map((folder) => resolve(folder));
const browser = await launch();

// Without what is there to be clicked or pointed at.
const BARE = '.pc-info, .pc-said, .u-value, .u-legend .u-series:first-child { display: none !important } .u-legend th::after { content: none !important } .pc-show { grid-template-columns: 1fr } .pc-plot, .pc-figure { border-color: transparent; background: var(--back) }';

async function open(name, width, height, style = '') {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: 'light' });
    await page.goto(`file://${join(pages, name)}.html`);
    await page.waitForFunction(() => window.pcontact?.ready, null, { timeout: 120000 });
    await page.addStyleTag({ content: BARE + style });
    await drawn(page);
    return page;
}

const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

async function shoot(page, selector, picture) {
    await drawn(page);
    const image = await page.locator(selector).first().screenshot(picture ? { path: join(pictures, `${picture}.png`) } : {});
    if (picture) console.log(`written: ${picture}.png`);
    return image;
}

// The stage at a time, from the first view or nearer.
async function stageAt(page, time, { nearer = 1, picture = null } = {}) {
    await page.evaluate(([t, part]) => {
        const { stage } = window.pcontact.replay;
        stage.resize();
        stage.goHome();
        stage.camera.position.lerp(stage.controls.target, 1 - part);
        stage.setContacts(false);
        window.pcontact.seek(t);
    }, [time, nearer]);
    return shoot(page, '.pc-stage', picture);
}

async function stack() {
    const page = await open('stack10', 780, 900, '.pc-stage { height: 400px }');
    await stageAt(page, 10, { picture: 'stack' });
    await page.close();
}

// Frames of one run in rows of three, each with its time.
async function frames(name, times, picture) {
    const page = await open(name, 420, 700, '#pc-root { padding: 0 } .pc-name { display: none } .pc-stage { height: 150px; border: 0 }');
    const cells = [];
    for (const time of times) cells.push(`<figure><img src="data:image/png;base64,${(await stageAt(page, time, { nearer: 0.97 })).toString('base64')}"><figcaption>${time} s</figcaption></figure>`);
    const sheet = await browser.newPage({ viewport: { width: 900, height: 500 } });
    await sheet.setContent(`<style>body{margin:0;font:15px system-ui,sans-serif}div{display:grid;grid-template-columns:repeat(3,1fr);gap:6px;padding:2px}figure{margin:0;position:relative}img{width:100%;display:block}figcaption{position:absolute;left:8px;top:5px}</style><div>${cells.join('')}</div>`);
    await shoot(sheet, 'div', picture);
    await Promise.all([page.close(), sheet.close()]);
}

async function element(name, selector, picture, width) {
    const page = await open(name, width, 900);
    await shoot(page, selector, picture);
    await page.close();
}

await stack();
await frames('balance2_lcp', [0, 2, 3, 5, 6, 12], 'balance2');
await element('balance2', '.pc-plot[data-quantity=infeasibility_contact]', 'infeasibility', 760);
await element('papers', '.pc-figure', 'slopes', 760);
await element('grasp', '.pc-figure', 'map', 660);
await browser.close();
