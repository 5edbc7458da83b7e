// Debian's Chromium, or the one that BROWSER names, without a graphics processor and without asking anybody anything.
import { chromium } from 'playwright-core';

export const SOFTWARE = ['--disable-gpu', '--enable-unsafe-swiftshader'];
export const ALL_BY_WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

export const launch = (flags = ALL_BY_WEBGL) => chromium.launch({ executablePath: process.env.BROWSER ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-background-networking', '--no-first-run', ...flags] });
