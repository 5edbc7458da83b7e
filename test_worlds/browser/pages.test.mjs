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
    const at = await page.evaluate(() => {
        const { stage } = window.pcontact.replay, cell = stage.cells()[0].getBoundingClientRect();
        const { first, count } = stage.shapes.parts.find(({ body }) => body === 0), corners = stage.views[0].bodies.position.array.slice(3 * first, 3 * (first + count));
        const middle = [0, 1, 2].map((k) => corners.filter((_, i) => i % 3 === k).reduce((sum, x) => sum + x, 0) / count);
        const p = stage.camera.position.clone().set(...middle).project(stage.camera);
        return [cell.left + ((p.x + 1) / 2) * cell.width, cell.top + ((1 - p.y) / 2) * cell.height];
    });
    assert.ok(at[0] > box.x && at[0] < box.x + box.width);
    await page.mouse.click(...at);
    const said = await page.locator('.pc-info').textContent();
    assert.match(said, /position/);
    assert.match(said, /contacts/);
    assert.match(said, /corner on face/);
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

test('everything can be reached and worked by keys alone', async () => {
    const { page, close } = await open(pageFile('balance2'));
    const reached = new Set();
    for (let i = 0; i < 30; i++) {
        await page.keyboard.press('Tab');
        reached.add(await page.evaluate(() => { const e = document.activeElement; return e.textContent.trim().slice(0, 12) && e.tagName === 'BUTTON' ? e.textContent.trim() : e.name || e.getAttribute('aria-label') || e.className; }));
    }
    for (const wanted of ['Dark', 'Copy', 'Play', 'Time in seconds', 'Speed', 'contacts', 'trails', 'Ghost of another model', 'Reset view', 'Steps as CSV', 'States as CSV']) assert.ok(reached.has(wanted), `${wanted} is among ${[...reached].join(', ')}`);
    await page.getByRole('button', { name: 'Dark' }).focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await close();
});

test('the header says what ran', async () => {
    const { page, close } = await open(pageFile('balance2'));
    const facts = await page.locator('.pc-facts dt').allTextContents();
    for (const wanted of ['version', 'machine', 'date', 'native', 'quick', 'lcp']) assert.ok(facts.includes(wanted), `${wanted} is among ${facts}`);
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
    assert.equal(rows[0], 'model,time,body,x,y,z,qw,qx,qy,qz');
    assert.equal(rows.length, 1 + 55 * (await page.evaluate(() => window.pcontact.page.runs[0].time.length)) + 1);
    assert.ok(rows[1].split(',').length === 10 && rows[1].split(',').slice(3).every((x) => Number.isFinite(+x)));
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
    const seen = await coloursOf(page, '.pc-map');
    assert.ok(seen.different > 4);
    assert.deepEqual(complaints, []);
    await close();
    const slopes = await open(pageFile('papers'));
    assert.match(await slopes.page.locator('.pc-figure .u-legend').textContent(), /dice3.*slope [12]\.\d\d/s);
    assert.deepEqual(slopes.complaints, []);
    await slopes.close();
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
