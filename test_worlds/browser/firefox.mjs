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
await page.evaluate(() => window.pcontact.seek(1));
await new Promise((done) => setTimeout(done, 1500));
const { data } = PNG.sync.read(Buffer.from(await (await page.$('.pc-stage')).screenshot()));
const colours = new Set();
for (let i = 0; i < data.length; i += 4) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
const plots = (await page.$$('.pc-plot')).length, views = (await page.$$('.pc-name')).length;
await browser.close();
assert.deepEqual(complaints, []);
assert.ok(colours.size > 60, `${colours.size} colours on the stage`);
assert.ok(plots >= 5 && views === 3, `${plots} plots, ${views} views`);
console.log(`Firefox: ${views} views, ${plots} plots, ${colours.size} colours, no complaint`);
