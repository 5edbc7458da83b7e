// Pages that pcontact writes, in a real browser: node --test, with PCONTACT the tool, PAGES a folder to write them to and BROWSER the browser.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { launch } from './browser.mjs';
import { PNG } from 'pngjs';

const tool = process.env.PCONTACT, folder = resolve(process.env.PAGES);
let browser;

const pcontact = (...words) => execFileSync(tool, words, { encoding: 'utf8' });
const pageFile = (name) => join(folder, `${name}.html`);

before(async () => {
    mkdirSync(folder, { recursive: true });
    pcontact('compare', 'balance2', '--time', '4', '--report', pageFile('balance2'));
    pcontact('run', 'wall55', '--time', '10', '--quiet', '--report', pageFile('wall55'));
    browser = await launch();
});
after(() => browser?.close());

// A page that is ready and laid out, and everything it complained about; nothing may leave it.
async function open(file, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage(), complaints = [], requests = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    page.on('dialog', (dialog) => (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    await page.goto(`file://${file}`);
    await page.waitForFunction(() => window.pcontact?.ready, null, { timeout: 60000 });
    await settle(page);
    return { page, complaints, requests, close: () => context.close() };
}

// The pixels of an element: how many different colours, and which part has the most frequent one.
async function coloursOf(page, selector) {
    const { data, width, height } = PNG.sync.read(await page.locator(selector).screenshot());
    const count = new Map();
    for (let i = 0; i < width * height; i++) {
        const colour = (data[4 * i] >> 3 << 10) | (data[4 * i + 1] >> 3 << 5) | (data[4 * i + 2] >> 3);
        count.set(colour, (count.get(colour) ?? 0) + 1);
    }
    return { different: count.size, most: Math.max(...count.values()) / (width * height), count, pixels: width * height };
}

// Where a body is on the screen, in the first view.
const placeOf = (page, body) => page.evaluate((body) => {
    const { stage } = window.pcontact.replay, cell = stage.cells()[0].getBoundingClientRect();
    const { first, count } = stage.shapes.parts.find((part) => part.body === body), corners = stage.views[0].bodies.position.array.slice(3 * first, 3 * (first + count));
    const middle = [0, 1, 2].map((k) => corners.filter((_, i) => i % 3 === k).reduce((sum, x) => sum + x, 0) / count);
    const p = stage.camera.position.clone().set(...middle).project(stage.camera);
    return [cell.left + ((p.x + 1) / 2) * cell.width, cell.top + ((1 - p.y) / 2) * cell.height];
}, body);

// How many pixels have a colour, to the precision that coloursOf keeps.
const exactly = ({ count }, hex) => count.get([1, 3, 5].reduce((sum, at) => (sum << 5) | (parseInt(hex.slice(at, at + 2), 16) >> 3), 0)) ?? 0;

const rowsOf = (text) => text.trim().split('\n').map((line) => line.split(','));

// Pixels of a hue, whatever light falls on them: their strongest part stands out.
const blueish = ({ count }) => [...count].filter(([c]) => (c & 31) > (c >> 10) + 6).reduce((sum, [, n]) => sum + n, 0);
const orangeish = ({ count }) => [...count].filter(([c]) => c >> 10 > (c & 31) + 8 && c >> 10 > (c >> 5 & 31)).reduce((sum, [, n]) => sum + n, 0);

const whiteish = ({ count }) => [...count].filter(([c]) => c === 0x7fff).reduce((sum, [, n]) => sum + n, 0);

const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

test('a comparison opens from disk without a complaint or a request', async () => {
    const { page, complaints, requests, close } = await open(pageFile('balance2'));
    await settle(page);
    assert.deepEqual(complaints, []);
    assert.deepEqual(requests.filter((url) => !url.startsWith('file:') && !url.startsWith('blob:')), []);
    assert.match(await page.title(), /balance2/);
    assert.match(await page.locator('.pc-command code').textContent(), /^pcontact compare balance2 --time 4 --report /);
    await close();
});

test('every model has its view, its column and its series', async () => {
    const { page, close } = await open(pageFile('balance2'));
    assert.deepEqual(await page.locator('.pc-name').allTextContents(), ['native', 'quick', 'lcp']);
    assert.deepEqual(await page.locator('.pc-verdict thead th').allTextContents(), ['', 'native', 'quick', 'lcp']);
    const quantities = await page.locator('.pc-plot').evaluateAll((boxes) => boxes.map((box) => box.dataset.quantity));
    for (const wanted of ['infeasibility_contact', 'penetration', 'residual', 'energy', 'iterations', 'ms']) assert.ok(quantities.includes(wanted), wanted);
    const labels = await page.locator('.pc-plot[data-quantity=energy] .u-legend .u-label').allTextContents();
    assert.deepEqual(labels, ['s', 'native', 'quick', 'lcp']);
    await close();
});

test('the slider moves bodies, keys and buttons move time', async () => {
    const { page, close } = await open(pageFile('balance2'));
    const height = () => page.evaluate(() => [...window.pcontact.replay.stage.views[2].bodies.position.array].filter((_, i) => i % 3 === 2));
    const start = await height();
    await page.locator('input[type=range]').fill('2');
    const later = await height();
    assert.ok(start.some((z, i) => Math.abs(z - later[i]) > 0.1), 'some body has fallen');
    assert.match(await page.locator('.pc-time').textContent(), /^2\.00 of 4\.00 s/);
    await page.locator('.pc-stage').focus();
    await page.keyboard.press('ArrowRight');
    assert.match(await page.locator('.pc-time').textContent(), /^2\.01 /);
    await page.keyboard.press('Home');
    assert.match(await page.locator('.pc-time').textContent(), /^0\.00 /);
    await page.keyboard.press(' ');
    await page.waitForFunction(() => window.pcontact.replay.clock.time > 0.2);
    await page.getByRole('button', { name: 'Pause' }).click();
    await close();
});

test('what is drawn is there: bodies in colours, in both themes', async () => {
    for (const colorScheme of ['light', 'dark']) {
        const { page, close } = await open(pageFile('balance2'), { colorScheme });
        await page.evaluate(() => window.pcontact.seek(1));
        await settle(page);
        const seen = await coloursOf(page, '.pc-stage');
        assert.ok(seen.different > 60, `${seen.different} colours`);
        assert.ok(seen.most < 0.7, `the most frequent colour has ${seen.most}`);
        assert.ok(blueish(seen) > 100 && orangeish(seen) > 100, 'blue and orange bodies');
        await close();
    }
});

test('a click tells of a body, a ghost and trails can be shown', async () => {
    const { page, close } = await open(pageFile('wall55'));
    await page.evaluate(() => window.pcontact.seek(1));
    await settle(page);
    const box = await page.locator('.pc-stage').boundingBox();
    const at = await placeOf(page, 0);
    assert.ok(at[0] > box.x && at[0] < box.x + box.width);
    await page.mouse.click(...at);
    const said = await page.locator('.pc-info').textContent();
    assert.match(said, /position/);
    assert.match(said, /contacts/);
    assert.match(said, /corner on face/);
    assert.match(said, /body 1 of 55/);
    assert.match(said, /velocity, m\/s(-?\d+\.\d{3} *){3}spin, rad\/s(-?\d+\.\d{3} *){3}/);
    await settle(page);
    assert.ok(whiteish(await coloursOf(page, '.pc-stage')) > 200, 'the body that was clicked is white');
    await page.locator('input[name=trails]').check();
    assert.equal(await page.evaluate(() => window.pcontact.replay.stage.views[0].trails.children.length), 1);
    await close();
    const two = await open(pageFile('balance2'));
    await two.page.getByLabel('Ghost of another model').selectOption('0');
    assert.equal(await two.page.evaluate(() => window.pcontact.replay.stage.views[2].ghost.mesh.visible), true);
    assert.equal(await two.page.evaluate(() => window.pcontact.replay.stage.views[0].ghost.mesh.visible), false);
    await two.close();
});

test('a body that is lost takes no other with it', async () => {
    const { page, complaints, close } = await open(pageFile('wall55'));
    const found = await page.evaluate(() => {
        const { replay } = window.pcontact, { stage } = replay, [run] = replay.page.runs, box = stage.cells()[0].getBoundingClientRect(), bodies = new Set();
        run.position.fill(NaN, 0, 3 * run.time.length);
        replay.seek(1);
        stage.render();
        for (let x = 0.2; x < 0.8; x += 0.05) for (let y = 0.2; y < 0.9; y += 0.05) bodies.add(stage.pick(box.left + x * box.width, box.top + y * box.height).body);
        return [...bodies].filter((body) => body >= 0);
    });
    assert.ok(found.length > 20 && !found.includes(0), String(found));
    assert.deepEqual(complaints, []);
    await close();
});

test('plots follow the time, hide series and give values', async () => {
    const { page, close } = await open(pageFile('balance2'));
    const plot = page.locator('.pc-plot[data-quantity=energy]');
    await plot.scrollIntoViewIfNeeded();
    await plot.locator('.u-over').hover({ position: { x: 80, y: 40 } });
    assert.notEqual(await plot.locator('.u-legend .u-value').first().textContent(), '–');
    await plot.locator('.u-over').click({ position: { x: 80, y: 40 } });
    const time = await page.evaluate(() => window.pcontact.replay.clock.time);
    assert.ok(time > 0.2 && time < 3.9, `a click leads to ${time} s`);
    await plot.locator('.u-legend .u-label', { hasText: 'quick' }).click();
    assert.equal(await page.evaluate(() => window.pcontact.plots.plots.find((p) => /Energy/.test(p.root.textContent)).series[2].show), false);
    await close();
});

test('plots are zoomed by dragging and whole again by a double click', async () => {
    const { page, close } = await open(pageFile('balance2'));
    const plot = page.locator('.pc-plot[data-quantity=energy]'), scale = () => page.evaluate(() => window.pcontact.plots.plots.find((p) => /Energy/.test(p.root.textContent)).scales.x).then(({ min, max }) => [min, max]);
    await plot.scrollIntoViewIfNeeded();
    const whole = await scale(), box = await plot.locator('.u-over').boundingBox();
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const part = await scale();
    assert.ok(part[0] > whole[0] + 0.5 && part[1] < whole[1] - 1, `from ${whole} to ${part}`);
    await plot.locator('.u-over').dblclick({ position: { x: 80, y: 40 } });
    assert.deepEqual(await scale(), whole);
    await close();
});

test('quantities that all but vanish are plotted by powers of ten', async () => {
    pcontact('compare', 'ellipse', '--report', pageFile('ellipse'));
    const { page, complaints, close } = await open(pageFile('ellipse'));
    await settle(page);
    assert.deepEqual(complaints, []);
    const splits = await page.evaluate(() => window.pcontact.plots.plots[0].axes[1]._splits);
    assert.ok(splits.length >= 3 && splits.length <= 9, String(splits));
    assert.ok(splits.every((split) => Math.abs(Math.log10(split) - Math.round(Math.log10(split))) < 1e-9 && split >= 1e-18), String(splits));
    await close();
});

test('the time line of every plot goes where the replay goes', async () => {
    const { page, close } = await open(pageFile('balance2'));
    await page.evaluate(() => window.pcontact.seek(2));
    const apart = await page.evaluate(() => window.pcontact.plots.plots.map((plot) => {
        const line = plot.over.querySelector('.pc-now').getBoundingClientRect(), box = plot.over.getBoundingClientRect();
        return Math.abs(plot.posToVal(line.left + line.width / 2 - box.left, 'x') - 2);
    }));
    assert.ok(apart.length >= 5 && apart.every((error) => error < 0.02), String(apart));
    await close();
});

test('the command is copied', async () => {
    const { page, close } = await open(pageFile('balance2'));
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.evaluate(() => document.body.prepend(document.createElement('textarea')));
    await page.locator('textarea').focus();
    await page.keyboard.press('Control+v');
    assert.equal(await page.locator('textarea').inputValue(), await page.locator('.pc-command code').textContent());
    await close();
});

// Tab until the focus is where `wanted` says; nothing but keys.
async function tabTo(page, selector, text = '') {
    for (let i = 0; i < 150; i++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate(([selector, text]) => document.activeElement.matches(selector) && document.activeElement.textContent.includes(text), [selector, text])) return;
    }
    assert.fail(`${selector} ${text} is not reached`);
}

test('everything can be reached and worked by keys alone', async () => {
    const { page, complaints, close } = await open(pageFile('balance2'));
    const all = await page.evaluate(() => [...document.querySelectorAll('button, input, select, summary, [tabindex], .u-legend .u-series + .u-series th')].map((e, i) => ((e.dataset.number = i), e.getAttribute('aria-label') ?? e.textContent)));
    const reached = new Set();
    for (let i = 0; i < all.length + 2; i++) {
        await page.keyboard.press('Tab');
        reached.add(await page.evaluate(() => document.activeElement.dataset.number));
    }
    assert.deepEqual(all.filter((_, i) => !reached.has(String(i))), []);
    for (const wanted of ['Light or dark', 'Copy', 'What ran', 'Play', 'Time in seconds', 'Speed', 'Ghost of another model', 'Reset view', 'Keys', 'Verdict', 'Steps as CSV', 'States as CSV']) assert.ok(all.includes(wanted), `${wanted} is among ${all.join(', ')}`);

    const text = (selector) => page.locator(selector).textContent(), press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
    // Bodies.
    const names = await page.evaluate(() => window.pcontact.page.bodies.map(({ name }) => name)), last = names.length - 1;
    const selected = async () => [await text('.pc-info h2'), await page.evaluate(() => window.pcontact.replay.stage.selected)];
    await press('n');
    assert.deepEqual(await selected(), [names[0], 0]);
    assert.match(await text('.pc-info'), new RegExp(`body 1 of ${names.length}`));
    await press('n', 'n', 'p');
    assert.deepEqual(await selected(), [names[1], 1]);
    await press('p', 'p');
    assert.deepEqual(await selected(), [names[last], last]);
    await press('n', 'Escape');
    assert.match(await text('.pc-info'), /press n/);
    await press('p');
    assert.deepEqual(await selected(), [names[last], last]);

    // The camera: turns about what it looks at, comes nearer, goes home.
    const camera = () => page.evaluate(() => { const { camera, controls } = window.pcontact.replay.stage, { x, y, z } = camera.position.clone().sub(controls.target); return { away: Math.hypot(x, y, z), turn: Math.atan2(y, x), fall: Math.acos(z / Math.hypot(x, y, z)) }; });
    const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`), angle = Math.PI / 24;
    const home = await camera();
    await press('Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowLeft', 'Shift+ArrowUp', 'Shift+ArrowUp');
    const turned = await camera();
    near(turned.turn - home.turn, angle), near(turned.fall - home.fall, -2 * angle), near(turned.away, home.away);
    for (let i = 0; i < 30; i++) await press('Shift+ArrowUp');
    assert.ok((await camera()).fall > 0.01, 'not over the pole');
    await press('+', '+', '-');
    near((await camera()).away, 0.85 * home.away);
    await press('h');
    near((await camera()).away, home.away), near((await camera()).turn, home.turn);
    near(await page.evaluate(() => window.pcontact.replay.clock.time), 0);

    // Controls; keys that have a use where the focus is do nothing else.
    const replay = (name) => page.evaluate((name) => window.pcontact.replay[name], name);
    await tabTo(page, '.pc-play');
    await press('Enter');
    assert.equal(await replay('playing'), true);
    await press(' ');
    assert.equal(await replay('playing'), false);
    await tabTo(page, 'input[type=range]');
    await press('End');
    assert.match(await text('.pc-time'), /^4\.00 /);
    await press('Home', 'ArrowRight', 'n');
    assert.doesNotMatch(await text('.pc-time'), /^0\.00 /);
    assert.deepEqual(await selected(), [names[0], 0]);
    await tabTo(page, 'select', '2×');
    await press('ArrowDown');
    assert.equal(await replay('speed'), 2);
    await tabTo(page, 'input[name=contacts]');
    await press(' ');
    assert.equal(await page.evaluate(() => window.pcontact.replay.stage.views[0].contacts.group.visible), false);
    await press('?');
    assert.equal(await page.locator('.pc-keys').evaluate((keys) => keys.open), true);
    for (const key of ['Space', 'n p', 'Shift', 'Esc', 'Home End']) assert.ok((await text('.pc-keys')).includes(key), key);

    // Plots.
    const energy = (code) => page.evaluate(code.replaceAll('plot', "window.pcontact.plots.plots.find((p) => /Energy/.test(p.root.textContent))")), width = () => energy('plot.scales.x.max - plot.scales.x.min');
    const whole = await width();
    await tabTo(page, '.pc-plot[data-quantity=energy] .u-over');
    await press('+');
    assert.ok(Math.abs(await width() - whole / 2) < 0.05, 'half of it is shown');
    near((await camera()).away, home.away);
    await press('0', 'ArrowRight');
    near(await width(), whole);
    assert.match(await text('.pc-plot[data-quantity=energy] .u-legend'), /lcp\d/);
    await tabTo(page, '.pc-plot[data-quantity=energy] .u-legend th', 'quick');
    const shown = async () => [await energy('plot.series[2].show'), await page.evaluate(() => document.activeElement.getAttribute('aria-pressed'))];
    assert.deepEqual(await shown(), [true, 'true']);
    await press('Enter');
    assert.deepEqual(await shown(), [false, 'false']);
    await press(' ');
    assert.deepEqual(await shown(), [true, 'true']);
    assert.equal(await replay('playing'), false);

    const [saved] = await Promise.all([page.waitForEvent('download'), tabTo(page, 'button', 'States as CSV').then(() => press('Enter'))]);
    assert.match(saved.suggestedFilename(), /states\.csv$/);
    await tabTo(page, 'button', 'Dark');
    await press('Enter');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.deepEqual(complaints, []);
    await close();
});

test('a tap on a body tells of it', async () => {
    const { page, complaints, close } = await open(pageFile('wall55'), { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
    for (const body of [0, 7]) {
        await page.touchscreen.tap(...(await placeOf(page, body)));
        await settle(page);
        assert.match(await page.locator('.pc-info').textContent(), new RegExp(`body ${body + 1} of 55`));
    }
    assert.deepEqual(complaints, []);
    await close();
});

test('the header says what ran', async () => {
    const { page, close } = await open(pageFile('balance2'));
    const facts = await page.locator('.pc-facts dt').allTextContents();
    for (const wanted of ['version', 'ODE', 'LAPACK', 'machine', 'date', 'native', 'quick', 'lcp']) assert.ok(facts.includes(wanted), `${wanted} is among ${facts}`);
    const said = (name) => page.locator(`.pc-facts dt:text-is("${name}") + dd`).textContent(), info = pcontact('info');
    for (const name of ['ODE', 'LAPACK']) assert.ok(info.includes(` ${await said(name)}\n`), `${name}: ${await said(name)} is what 'pcontact info' says`);
    assert.match(await said('ODE'), /^\d+\.\d+.*double_precision/);
    const rows = await page.locator('.pc-verdict tbody th').allTextContents();
    assert.ok(rows.some((row) => /penetration/.test(row)) && rows.some((row) => /time per step/.test(row)));
    assert.equal(await page.locator('.pc-verdict tbody tr').first().locator('td').count(), 3);
    await close();
});

test('cameras are linked, and the wheel and dragging move them', async () => {
    const { page, close } = await open(pageFile('balance2'));
    const camera = () => page.evaluate(() => window.pcontact.replay.stage.camera.position.toArray());
    const box = await page.locator('.pc-view').nth(1).boundingBox(), start = await camera();
    const before = await Promise.all([0, 2].map((i) => coloursOf(page, `.pc-view >> nth=${i}`)));
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 90, box.y + box.height / 2 + 30, { steps: 4 });
    await page.mouse.up();
    await page.mouse.wheel(0, -400);
    await settle(page);
    const moved = await camera();
    assert.ok(Math.hypot(...moved.map((x, k) => x - start[k])) > 0.5);
    const after = await Promise.all([0, 2].map((i) => coloursOf(page, `.pc-view >> nth=${i}`)));
    after.forEach((seen, i) => assert.ok([...seen.count].some(([colour, n]) => Math.abs(n - (before[i].count.get(colour) ?? 0)) > 0.01 * seen.pixels), `view ${2 * i} has changed`));
    await page.locator('.pc-stage').focus();
    await page.keyboard.press('h');
    assert.ok(Math.hypot(...(await camera()).map((x, k) => x - start[k])) < 1e-6);
    await close();
});

// Bodies that fly apart: nothing repeats, so nothing can be packed.
test('a long run is thinned, stays below 5 MB and says so', async () => {
    const names = Array.from({ length: 120 }, (_, i) => i), at = (i) => `${3 * (i % 11)} ${3 * (Math.floor(i / 11) % 11)} 0`;
    const models = names.map((i) => `<model name="b${i}"><pose>${at(i)} 0 0 0</pose><link name="l"><collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model>`);
    const states = names.map((i) => `<model name="b${i}"><link name="l"><pose>${at(i)} 0 0 0</pose><velocity>${Math.sin(i)} ${Math.cos(7 * i)} ${Math.sin(3 * i)} ${i % 5} ${i % 7} 1</velocity></link></model>`);
    writeFileSync(join(folder, 'flight.world'), `<?xml version="1.0"?><sdf version="1.6"><world name="flight"><gravity>0 0 -1</gravity>${models.join('')}<state world_name="flight">${states.join('')}</state></world></sdf>`);
    pcontact('run', join(folder, 'flight.world'), '--model', 'native', '--step', '0.01', '--time', '30', '--quiet', '--report', pageFile('flight'));
    const { page, complaints, close } = await open(pageFile('flight'));
    const frames = await page.evaluate(() => window.pcontact.page.runs[0].time.length), stride = Math.round(3000 / (frames - 1));
    assert.ok(stride > 1, `${frames} frames`);
    assert.match(await page.locator('.pc-note').first().textContent(), new RegExp(`of 3000 steps one in ${stride} is shown`));
    assert.ok(statSync(pageFile('flight')).size < 5e6);
    assert.equal(await page.evaluate(() => window.pcontact.replay.end), 30);
    assert.deepEqual(complaints, []);
    await close();
});

test('ten seconds of fifty bodies stay below 5 MB, and data can be taken along', async () => {
    assert.ok(statSync(pageFile('wall55')).size < 5e6);
    const { page, close } = await open(pageFile('wall55'));
    assert.equal(await page.evaluate(() => window.pcontact.page.bodies.length), 55);
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Steps as CSV' }).click()]);
    const text = readFileSync(await saved.path(), 'utf8').split('\n');
    assert.match(text[0], /^model,time,infeasibility_contact,/);
    assert.equal(text.length, 1 + 1000 + 1);
    const [states] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'States as CSV' }).click()]);
    const rows = readFileSync(await states.path(), 'utf8').split('\n');
    assert.equal(rows[0], 'model,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz');
    assert.equal(rows.length, 1 + 55 * (await page.evaluate(() => window.pcontact.page.runs[0].time.length)) + 1);
    await close();
});

test('states as CSV are those that --csv writes', async () => {
    pcontact('run', 'setup6', '--time', '3', '--quiet', '--csv', join(folder, 'setup6'), '--report', pageFile('setup6'));
    const { page, close } = await open(pageFile('setup6'));
    const [states] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'States as CSV' }).click()]);
    const rows = readFileSync(await states.path(), 'utf8').split('\n');
    assert.equal(rows.length, 1 + 2 * 301 + 1);
    // What --csv has written of the same run, to the digits that a page keeps.
    const written = new Map(rowsOf(readFileSync(join(folder, 'setup6.states.csv'), 'utf8')).slice(1).map(([time, body, ...numbers]) => [`${(+time).toFixed(6)} ${body}`, numbers.map(Number)]));
    let moving = 0;
    for (const row of rows.slice(1, -1).map((line) => line.split(','))) {
        const numbers = row.slice(3).map(Number), exact = written.get(`${(+row[1]).toFixed(6)} ${row[2]}`);
        assert.equal(numbers.length, 13);
        numbers.forEach((x, k) => assert.ok(Math.abs(x - exact[k]) <= (k < 3 ? 1e-5 : k < 7 ? 5e-5 : 2e-4 * Math.abs(exact[k]) + 1e-12), `${row}: ${k} should be ${exact[k]}`));
        moving += Math.hypot(...numbers.slice(10)) > 0.01;
    }
    assert.ok(moving > 50, `${moving} rows with a spin`);
    await close();
});

test('thousands of contacts are drawn when asked for, and the page says so', async () => {
    const models = Array.from({ length: 400 }, (_, i) => `<model name="b${i}"><pose>${2 * (i % 20)} ${2 * Math.floor(i / 20)} 0.5 0 0 0</pose><link name="l"><collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision></link></model>`);
    const floor = '<model name="floor"><static>true</static><link name="l"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>';
    writeFileSync(join(folder, 'field.world'), `<?xml version="1.0"?><sdf version="1.6"><world name="field">${floor}${models.join('')}</world></sdf>`);
    pcontact('run', join(folder, 'field.world'), '--step', '0.01', '--time', '0.2', '--quiet', '--report', pageFile('field'));
    const { page, complaints, close } = await open(pageFile('field'));
    const drawn = () => page.evaluate(() => { const { contacts } = window.pcontact.replay.stage.views[0]; return contacts.group.visible ? contacts.points.object.geometry.drawRange.count : 0; });
    assert.match(await page.locator('.pc-legend').textContent(), /up to 1600 contacts at a time hide the bodies/);
    await page.evaluate(() => window.pcontact.seek(0.1));
    assert.equal(await drawn(), 0);
    await page.locator('input[name=contacts]').check();
    assert.equal(await drawn(), 1600);
    const triangles = await page.evaluate(() => window.pcontact.replay.stage.renderer.info.render.triangles);
    assert.ok(triangles >= 400 * 12 && triangles < 6000, `${triangles} triangles`);
    assert.deepEqual(complaints, []);
    await close();
});

// Two pairs of beams that cross, edge on edge; the upper ones slide along the lower edges. One pair weighs three times as much.
test('arrows are as long as impulses, and coloured by kind', async () => {
    const beam = (name, x, z, turn, mass, fixed) => `<model name="${name}"><static>${fixed}</static><pose>${x} 0 ${z} ${turn}</pose><link name="l"><inertial><mass>${mass}</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial><collision name="c"><geometry><box><size>2 0.2 0.2</size></box></geometry><surface><friction><ode><mu>0.5</mu><mu2>0.5</mu2></ode></friction></surface></collision></link></model>`;
    const pair = (name, x, mass) => beam(`${name}_lower`, x, 0, `${Math.PI / 4} 0 0`, 1, true) + beam(`${name}_upper`, x, 0.2 * Math.SQRT2, `${Math.PI / 4} 0 ${Math.PI / 2}`, mass, false);
    const state = ['light', 'heavy'].map((name) => `<model name="${name}_upper"><link name="l"><velocity>0.5 0 0 0 0 0</velocity></link></model>`).join('');
    writeFileSync(join(folder, 'beams.world'), `<?xml version="1.0"?><sdf version="1.6"><world name="beams">${pair('light', 0, 1)}${pair('heavy', 4, 3)}<state world_name="beams">${state}</state></world></sdf>`);
    pcontact('run', join(folder, 'beams.world'), '--step', '0.01', '--time', '0.03', '--quiet', '--report', pageFile('beams'));
    const { page, complaints, close } = await open(pageFile('beams'));
    await page.evaluate(() => window.pcontact.seek(0.01));
    await settle(page);
    const { arrows, unit, typical, kinds } = await page.evaluate(() => {
        const { contacts } = window.pcontact.replay.stage.views[0], { run } = contacts;
        const read = ({ object }) => Array.from({ length: object.count }, (_, i) => {
            const m = object.instanceMatrix.array.slice(16 * i, 16 * i + 16), long = Math.hypot(m[8], m[9], m[10]), colour = contacts.group.children[0].material.color.clone().fromArray(object.instanceColor.array, 3 * i);
            return { long, along: [m[8] / long, m[9] / long, m[10] / long], at: [m[12], m[13], m[14]], colour: `#${colour.getHexString()}` };
        });
        const first = run.firstContact[1], last = run.firstContact[2];
        return { arrows: { normals: read(contacts.normals), frictions: read(contacts.frictions) }, unit: 0.12 * contacts.size, typical: contacts.typical, kinds: [...run.contacts.kind.slice(first, last)] };
    });
    assert.deepEqual(kinds, [2, 2], 'both are edge on edge');
    assert.equal(arrows.normals.length, 2);
    assert.equal(arrows.frictions.length, 2);
    const near = (a, b, part = 0.02) => assert.ok(Math.abs(a - b) <= part * Math.max(Math.abs(b), 0.1), `${a} is not ${b}`);
    for (const [name, mass] of [['light', 1], ['heavy', 3]]) {
        const impulse = mass * 9.81 * 0.01, x = name === 'light' ? 0 : 4;
        const find = (list) => list.find((arrow) => Math.abs(arrow.at[0] - x) < 1), normal = find(arrows.normals), friction = find(arrows.frictions);
        assert.deepEqual([normal.colour, friction.colour], ['#d55e00', '#cc79a7']);
        near(normal.long, (unit * impulse) / typical);
        near(friction.long, (0.5 * unit * impulse) / typical);
        [0, 0, 1].forEach((part, k) => near(normal.along[k], part));
        [-1, 0, 0].forEach((part, k) => near(friction.along[k], part));
        near(normal.at[2], 0.1 * Math.SQRT2);
    }
    const drawn = await coloursOf(page, '.pc-stage');
    await page.locator('input[name=contacts]').uncheck();
    await settle(page);
    const bare = await coloursOf(page, '.pc-stage');
    for (const colour of ['#d55e00', '#cc79a7']) assert.ok(exactly(drawn, colour) > exactly(bare, colour) + 20, `${colour}: ${exactly(drawn, colour)} pixels, without contacts ${exactly(bare, colour)}`);
    assert.deepEqual(complaints, []);
    await close();
});

test('the error of joints is plotted where there are joints', async () => {
    pcontact('run', 'hand', '--time', '0.25', '--quiet', '--csv', join(folder, 'hand'), '--report', pageFile('hand'));
    const { page, complaints, close } = await open(pageFile('hand'));
    assert.equal(await page.locator('.pc-plot[data-quantity=infeasibility_joint]').count(), 1);
    const [head, ...steps] = rowsOf(readFileSync(join(folder, 'hand.steps.csv'), 'utf8')), column = head.indexOf('infeasibility_joint');
    const plotted = await page.evaluate(() => window.pcontact.plots.plots.find((p) => /Joint error/.test(p.root.textContent)).data[1]);
    assert.equal(plotted.length, steps.length);
    steps.forEach((row, i) => assert.ok(Math.abs((plotted[i] ?? 0) - row[column]) <= 1e-5 * row[column] + 1e-17, `step ${i}: ${plotted[i]} is not ${row[column]}`));
    assert.ok(steps.filter((row) => row[column] > 1e-9).length > 10, 'there is an error to see');
    const box = await coloursOf(page, '.pc-plot[data-quantity=infeasibility_joint] .u-wrap');
    assert.ok(exactly(box, '#d55e00') > 20, 'a line is drawn');
    assert.deepEqual(complaints, []);
    await close();
    const without = await open(pageFile('balance2'));
    assert.equal(await without.page.locator('.pc-plot[data-quantity=infeasibility_joint]').count(), 0);
    await without.close();
});

test('a phone shows views below each other, without sideways scrolling', async () => {
    const { page, complaints, close } = await open(pageFile('balance2'), { viewport: { width: 390, height: 844 } });
    const [first, second] = await page.locator('.pc-view').evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().toJSON()));
    assert.ok(second.top >= first.bottom - 1);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'no sideways scrolling');
    assert.deepEqual(complaints, []);
    await close();
});

test('a sweep shows its map with the value under the pointer, the papers their slopes', async () => {
    pcontact('sweep', 'grasp', '--trials', '1', '--vary', 'gripper.x=grid:-0.008:0.008:0.004', '--vary', 'gripper.y=grid:-0.02:-0.002:0.003', '--report', pageFile('grasp'));
    pcontact('bench', 'papers', 'dice3', '--quick', '--report', pageFile('papers'));
    const { page, complaints, close } = await open(pageFile('grasp'));
    const map = await page.evaluate(() => window.pcontact.page.maps[0]);
    assert.deepEqual([map.x.length, map.y.length, map.value.length, map.value[0].length], [5, 7, 7, 5]);
    const { cell, left, top } = await page.evaluate(() => window.pcontact.maps[0].at);
    await page.locator('.pc-map').hover({ position: { x: left + 2.5 * cell, y: top + 6.5 * cell } });
    assert.match(await page.locator('.pc-said').textContent(), new RegExp(`gripper.x 0, gripper.y -0.02: ${map.value[0][2]} of 1 trials`));
    await page.mouse.move(0, 0);
    // Cells by their values, and beside them a bar for each row and column, as long as its mean.
    const wrong = await page.evaluate(() => {
        const { canvas, at, low, high } = window.pcontact.maps[0], [map] = window.pcontact.page.maps, { x, y, value } = map;
        const ratio = window.devicePixelRatio, context = canvas.getContext('2d'), accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
        const pixel = (u, v) => `#${[...context.getImageData(Math.floor(u * ratio), Math.floor(v * ratio), 1, 1).data].slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join('')}`;
        const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length, long = (values) => (at.bar * (mean(values) - low)) / (high - low);
        const complaints = [], middle = (row) => at.top + (y.length - 0.5 - row) * at.cell;
        const bar = (name, length, place) => {
            if (length > 3 && (place(1) !== accent || place(length - 2) !== accent)) complaints.push(`${name} is not drawn`);
            if (place(length + 2) === accent) complaints.push(`${name} is too long`);
        };
        x.forEach((_, i) => bar(`column ${i}`, long(value.map((row) => row[i])), (far) => pixel(at.left + (i + 0.5) * at.cell, at.top + at.high + 4 + far)));
        y.forEach((_, j) => bar(`row ${j}`, long(value[j]), (far) => pixel(at.left + at.wide + 4 + far, middle(j))));
        const ends = { [low]: '#440154', [high]: '#fde725' };
        y.forEach((_, j) => x.forEach((_, i) => { if (ends[value[j][i]] && pixel(at.left + (i + 0.5) * at.cell, middle(j)) !== ends[value[j][i]]) complaints.push(`cell ${i} ${j}`); }));
        const lengths = new Set(value.map(long).map(Math.round));
        return { complaints, lengths: lengths.size, ends: new Set(value.flat()).size };
    });
    assert.deepEqual(wrong.complaints, []);
    assert.ok(wrong.lengths > 1 && wrong.ends > 1, 'bars of several lengths, cells of several colours');
    await tabTo(page, '.pc-map');
    const said = () => page.locator('.pc-said').textContent();
    await page.keyboard.press('ArrowRight');
    assert.match(await said(), new RegExp(`gripper.x 4.00e-3, gripper.y -0.02: ${map.value[0][3]} of 1 trials`));
    await page.keyboard.press('ArrowUp');
    assert.match(await said(), new RegExp(`gripper.x 4.00e-3, gripper.y -0.017: ${map.value[1][3]} of 1 trials`));
    assert.deepEqual(complaints, []);
    await close();
    const slopes = await open(pageFile('papers'));
    assert.match(await slopes.page.locator('.pc-figure .u-legend').textContent(), /dice3.*slope [12]\.\d\d/s);
    assert.deepEqual(slopes.complaints, []);
    await slopes.close();
});

test('every page of the gallery opens, from its entry', async () => {
    const place = join(folder, 'gallery');
    execFileSync(process.env.GALLERY, [tool, place, '--time', '0.1'], { stdio: 'pipe' });
    const context = await browser.newContext(), page = await context.newPage(), complaints = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`file://${join(place, 'index.html')}`);
    const links = await page.locator('li a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    for (const wanted of ['balance2', 'hand', 'three_ellipsoids', 'lattice', 'grasp_map', 'papers']) assert.ok(links.includes(`${wanted}.html`), `${wanted} is among ${links}`);
    for (const link of links) {
        await page.locator(`li a[href="${link}"]`).click();
        await page.waitForFunction(() => window.pcontact?.ready, null, { timeout: 60000 });
        assert.ok((await page.locator('.pc-view, .pc-figure').count()) > 0, link);
        assert.deepEqual(complaints, [], link);
        await page.goBack();
    }
    await context.close();
});

test('names that are markup do nothing', async () => {
    const hostile = '&lt;script&gt;document.title=1;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;';
    const world = `<?xml version="1.0"?><sdf version="1.6"><world name="${hostile}"><model name="${hostile}"><pose>0 0 1 0 0 0</pose><link name="l"><collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision></link></model></world></sdf>`;
    const file = join(folder, '<script>alert(3)<');
    mkdirSync(file, { recursive: true });
    writeFileSync(join(file, 'script>.world'), world);
    pcontact('run', join(file, 'script>.world'), '--time', '0.1', '--quiet', '--report', pageFile('hostile'));
    const { page, complaints, close } = await open(pageFile('hostile'));
    await page.evaluate(() => window.pcontact.replay.select(0));
    assert.deepEqual(complaints, []);
    assert.match(await page.locator('.pc-info h2').textContent(), /<script>/);
    assert.equal(await page.locator('#pc-root script, #pc-root img').count(), 0);
    await close();
});

test('without WebGL everything but the stage is there', async () => {
    const context = await browser.newContext();
    await context.addInitScript(() => (HTMLCanvasElement.prototype.getContext = new Proxy(HTMLCanvasElement.prototype.getContext, { apply: (f, self, args) => (/webgl/.test(args[0]) ? null : Reflect.apply(f, self, args)) })));
    const bare = await context.newPage();
    await bare.goto(`file://${pageFile('balance2')}`);
    await bare.waitForFunction(() => window.pcontact?.ready);
    await bare.locator('input[type=range]').fill('2');
    assert.match(await bare.locator('.pc-time').textContent(), /^2\.00 /);
    assert.match(await bare.locator('.pc-no-stage').textContent(), /no WebGL/);
    assert.ok((await bare.locator('.pc-plot').count()) >= 5);
    await context.close();
});
