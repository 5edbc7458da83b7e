// Bundles src/ into one script and one style sheet: node build.mjs OUTPUT_FOLDER. They are embedded in the tool, which writes them into every page.
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'out');
mkdirSync(out, { recursive: true });
await build({
    entryPoints: { report: join(here, 'src/main.js') },
    outdir: out,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome110', 'firefox113'],
    legalComments: 'inline', // the licences of what is bundled travel with it
    charset: 'ascii', // inside a page of any encoding
    logLevel: 'warning',
});
