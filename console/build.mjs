// Builds the console: console/src -> hoplite/server/console, the files that the wheel carries.
//
//   node build.mjs            writes them
//   node build.mjs --check    fails where the files that are there differ from what the source gives
//   node build.mjs --tests    bundles the unit tests into build/tests
//
// The same source and package-lock.json give the same bytes: no hashes of paths, no dates, no source maps.

import { build } from 'esbuild';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const TARGET = resolve(HERE, '../hoplite/server/console');
const BROWSERS = ['chrome122', 'firefox131', 'safari18.4'];

const settings = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  format: 'esm',
  target: BROWSERS,
  charset: 'utf8',
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
};

/** The files of the console by name, and the folders of the packages that went into them. */
async function bundle() {
  const entries = { console: 'src/main.ts', language: 'src/language/worker.ts', style: 'src/style.css' };
  const result = await build({ ...settings, entryPoints: entries, outdir: 'out' });
  const files = new Map();
  for (const file of result.outputFiles) files.set(basename(file.path), Buffer.from(file.contents));
  for (const name of ['index.html', 'icon.svg']) files.set(name, readFileSync(join(HERE, 'src', name)));
  files.set('licences.txt', Buffer.from(licences(Object.keys(result.metafile.inputs))));
  return files;
}

/** The licence of every package whose code is in the bundle, in the words of its authors. */
function licences(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) folders.add(found[1]);
  }
  const parts = ['The console is part of Hoplite (Apache-2.0). It contains code of these packages:\n'];
  for (const folder of [...folders].sort()) {
    const about = JSON.parse(readFileSync(join(HERE, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(HERE, folder)).sort().find((name) => /^licen[cs]e/i.test(name));
    const text = file ? readFileSync(join(HERE, folder, file), 'utf8').trim() : `Licensed under ${about.license}.`;
    parts.push(`${'='.repeat(100)}\n${about.name} ${about.version} (${about.license})\n\n${text}\n`);
  }
  return parts.join('\n').replaceAll('\r\n', '\n');
}

async function bundleTests() {
  const names = readdirSync(join(HERE, 'tests')).filter((name) => name.endsWith('.test.ts'));
  await build({
    ...settings, minify: false, write: true, packages: 'external', platform: 'node', target: 'node20', outdir: 'build/tests', outExtension: { '.js': '.mjs' },
    entryPoints: names.map((name) => `tests/${name}`),
  });
}

function check(files) {
  const kept = existsSync(TARGET) ? readdirSync(TARGET) : [];
  const wrong = [...new Set([...kept, ...files.keys()])].filter(
    (name) => !files.has(name) || !kept.includes(name) || !files.get(name).equals(readFileSync(join(TARGET, name))),
  );
  if (wrong.length === 0) return;
  console.error(`hoplite/server/console differs from what console/ gives: ${wrong.join(', ')}. Run: make console`);
  process.exit(1);
}

function write(files) {
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(TARGET, name), bytes);
}

if (process.argv.includes('--tests')) await bundleTests();
else if (process.argv.includes('--check')) check(await bundle());
else write(await bundle());
