// The same page in Firefox, in a window (without one it has no WebGL): node firefox.mjs PAGE.html. Needs a display, such as Xvfb's.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import puppeteer from 'puppeteer-core';
import { PNG } from 'pngjs';

const [file] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX, headless: false, protocolTimeout: 120000 });
const page = await browser.newPage(), complaints = [];
await page.setViewport({ width: 1280, height: 800 });
page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
page.on('pageerror', (error) => complaints.push(error.message));
await page.goto(`file://${resolve(file)}`);
await page.waitForFunction(() => window.pcontact?.ready, { timeout: 120000 });

const settle = () => new Promise((done) => setTimeout(done, 1500));
const textOf = (selector) => page.$eval(selector, (element) => element.textContent);

// The stage as it is seen, by colours: how many pixels have each.
async function look() {
    await settle();
    const { data } = PNG.sync.read(Buffer.from(await (await page.$('.pc-stage')).screenshot())), colours = new Map();
    for (let i = 0; i < data.length; i += 4) {
        const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
        colours.set(colour, (colours.get(colour) ?? 0) + 1);
    }
    return colours;
}

// Pixels that have to change their colour to make one picture of the other, at least.
const apart = (a, b) => [...a].reduce((sum, [colour, count]) => sum + Math.max(0, count - (b.get(colour) ?? 0)), 0);

try {
    const start = await look();
    assert.ok(start.size > 60, `${start.size} colours on the stage`);
    const plots = (await page.$$('.pc-plot')).length, views = (await page.$$('.pc-name')).length;
    assert.ok(plots >= 5 && views === 3, `${plots} plots, ${views} views`);

    // The slider, by a press on its middle.
    const slider = await (await page.$('input[type=range]')).boundingBox();
    await page.mouse.click(slider.x + slider.width / 2, slider.y + slider.height / 2);
    const time = await page.evaluate(() => window.pcontact.replay.clock.time), end = await page.evaluate(() => window.pcontact.replay.end);
    assert.ok(Math.abs(time - end / 2) < 0.05 * end, `a press on the middle leads to ${time} of ${end} s`);
    assert.match(await textOf('.pc-time'), new RegExp(`^${time.toFixed(2)} of `));
    const later = await look();
    assert.ok(apart(start, later) > 500, `${apart(start, later)} pixels have changed with the time`);

    // A body, by a click on it: the first that is found under a grid of points.
    const at = await page.evaluate(() => {
        const { stage } = window.pcontact.replay, cell = stage.cells()[0].getBoundingClientRect();
        for (let y = 0.3; y < 0.9; y += 0.02) for (let x = 0.1; x < 0.9; x += 0.02) {
            const point = [cell.left + x * cell.width, cell.top + y * cell.height], { body } = stage.pick(...point);
            if (body >= 0) return { point, body, name: window.pcontact.page.bodies[body].name };
        }
        return null;
    });
    assert.ok(at, 'there is a body in the first view');
    await page.mouse.click(...at.point);
    assert.equal(await textOf('.pc-info h2'), at.name);
    assert.match(await textOf('.pc-info'), /spin, rad\/s/);
    const selected = await look();
    assert.ok(apart(later, selected) > 20, `${apart(later, selected)} pixels have changed with the body`);
    await page.keyboard.press('n');
    assert.equal(await page.evaluate(() => window.pcontact.replay.selected), (at.body + 1) % (await page.evaluate(() => window.pcontact.page.bodies.length)));
    assert.deepEqual(complaints, []);
    console.log(`Firefox: ${views} views, ${plots} plots, ${start.size} colours; the slider led to ${time.toFixed(2)} s, a click to ${at.name}; no complaint`);
} finally {
    await browser.close();
}
