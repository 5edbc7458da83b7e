// How fast a page with many bodies moves: node frames.mjs PAGE.html [SECONDS]. Prints frames per second of the replay, drawn in software.
import { chromium } from 'playwright-core';
import { resolve } from 'node:path';

const [file, seconds = '5'] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.BROWSER ?? '/usr/bin/chromium', args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking', '--no-first-run'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(`file://${resolve(file)}`);
await page.waitForFunction(() => window.pcontact?.ready, null, { timeout: 120000 });
const result = await page.evaluate((time) => new Promise((done) => {
    const { replay } = window.pcontact, begin = performance.now();
    let frames = 0;
    replay.seek(0);
    replay.toggle();
    const next = () => {
        frames++;
        if (!replay.playing) replay.toggle();
        if (performance.now() - begin < 1000 * time) requestAnimationFrame(next);
        else done({ bodies: replay.page.bodies.length, views: replay.page.runs.length, rate: (1000 * frames) / (performance.now() - begin) });
    };
    requestAnimationFrame(next);
}), +seconds);
console.log(`${result.bodies} bodies, ${result.views} views: ${result.rate.toFixed(1)} frames per second`);
await browser.close();
process.exitCode = result.rate >= 30 ? 0 : 1;
