// How fast a page with many bodies moves where there is no graphics processor: node frames.mjs PAGE.html [SECONDS]. The page is opened as a user
// opens it and its Play button is pressed; frames are those that the browser shows. Ends with 1 if there are fewer than 30 in a second.
import { resolve } from 'node:path';
import { launch, SOFTWARE, ALL_BY_WEBGL } from './browser.mjs';

const WANTED = 30;
const [file, seconds = '5'] = process.argv.slice(2);

// The first second is not counted: scripts are still being compiled.
const count = (page, time) => page.evaluate((limit) => new Promise((done) => {
    const { replay } = window.pcontact, { renderer } = replay.stage, shown = [];
    const next = (now) => {
        if (!replay.playing) replay.playButton.click(); // once more from the beginning
        shown.push(now);
        if (now - shown[0] < 1000 * (limit + 1)) return requestAnimationFrame(next);
        const counted = shown.filter((moment) => moment - shown[0] >= 1000), gaps = counted.slice(1).map((moment, i) => moment - counted[i]).sort((a, b) => a - b);
        const { width, height } = renderer.domElement;
        done({
            bodies: replay.page.bodies.length, views: replay.page.runs.length, contacts: replay.bar.querySelector('[name=contacts]').checked,
            triangles: renderer.info.render.triangles, ratio: renderer.getPixelRatio(), canvas: `${width} x ${height}`,
            rate: (1000 * gaps.length) / (counted.at(-1) - counted[0]), worst: gaps[Math.floor(0.99 * gaps.length)],
        });
    };
    replay.playButton.click();
    requestAnimationFrame(next);
}), time);

async function measure(flags, contacts) {
    const browser = await launch(flags), page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`file://${resolve(file)}`);
    await page.waitForFunction(() => window.pcontact?.ready, null, { timeout: 120000 });
    if (contacts) await page.locator('[name=contacts]').check();
    const m = await count(page, +seconds);
    await browser.close();
    console.log(`${m.rate.toFixed(1).padStart(6)} frames per second, 99 % within ${m.worst.toFixed(0)} ms: ${m.bodies} bodies, ${m.views} views, contacts ${m.contacts ? 'drawn' : 'not drawn'}, ${m.triangles} triangles, canvas ${m.canvas}, pixel ratio ${m.ratio.toFixed(2)}`);
    return m.rate;
}

console.log('As Chromium does without a graphics processor, the page put together by the processor and WebGL by SwiftShader:');
const rate = await measure(SOFTWARE, false);
await measure(SOFTWARE, true);
console.log('All by SwiftShader, the page around the canvas as well:');
await measure(ALL_BY_WEBGL, false);
if (rate < WANTED) console.log(`Fewer than ${WANTED} frames per second.`);
process.exitCode = rate >= WANTED ? 0 : 1;
