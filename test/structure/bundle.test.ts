import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { bundleInto } from '../../scripts/build.ts';
import { Bundle } from '../support/bundle.ts';

/* What the production image is made of, and what a process of the operator loads of it. */

const root = join(import.meta.dirname, '../..');

/** Of the operator at its start, with esbuild 0.28; more than a tenth above it wants a reason. */
const startBytes = 1_705_000;

let image: Bundle;
/** The part of the image that is for one command alone. */
let run: Bundle;
let everything: Bundle;
beforeAll(async () => {
  [image, run, everything] = await Promise.all([Bundle.of('image'), Bundle.of('image-run'), Bundle.of('main')]);
});

/** `zod`, `@fastify/error`; undefined for sources. */
function packageOf(file: string): string | undefined {
  const [, name] = /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  return name;
}

const packagesOf = (files: readonly string[]) => new Set(files.flatMap((file) => packageOf(file) ?? []));

/** What sources import of packages. */
function importedBy(files: readonly string[]): ReadonlySet<string> {
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import\()\s*'([^'.][^']*)'/g)].map((match) => match[1]),
  );
  return new Set(
    names.filter((name = '') => !name.startsWith('node:')).map((name) => packageOf(`node_modules/${name}`) ?? ''),
  );
}

const sources = globSync('src/**/*.ts', { cwd: root })
  .map((file) => file.replaceAll(sep, '/'))
  .filter((file) => !/\.(test|fixture)\.ts$/.test(file));
const isOfReference = (file: string) => file.startsWith('src/reference/');

/** Packages that nothing but the reference servers needs, and ajv, which Fastify brings along for those with schemas. */
const forReference = [
  ...importedBy(sources.filter(isOfReference)).difference(importedBy(sources.filter((file) => !isOfReference(file)))),
  'ajv',
];

/** Of every file in the folder. */
function digests(dir: string): Readonly<Record<string, string>> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort();
  const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  return Object.fromEntries(paths.map((path) => [path.slice(dir.length), digest(path)]));
}

async function inFolder(perform: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(process.env.OUTER_TMPDIR ?? tmpdir(), 'edge-operator-bundle-'));
  try {
    await perform(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Of a command, by the bundle in the folder. */
async function helpOf(dir: string, command: string): Promise<string> {
  const options = { timeout: 20_000, killSignal: 'SIGKILL' } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [join(dir, 'main.js'), command, '--help'], options);
  return stdout;
}

describe('the image', () => {
  const left = /^src\/(reference|main\.ts|cli\/(index|cloud|kube)\.ts|cli\/demo)(\/|$)/;
  const found = (files: readonly string[]) => files.filter((file) => left.test(file));

  test('holds nothing of the reference servers and the demo', () => {
    expect(found([...image.files(), ...run.files()])).toEqual([]);
    expect(found(everything.files()).length).toBeGreaterThan(100);
  });

  test('holds no package that only the reference servers need', () => {
    expect(forReference).toEqual(expect.arrayContaining(['@marcbachmann/cel-js', 're2js', 'fast-json-patch']));
    const packages = packagesOf([...image.files(), ...run.files()]);
    expect([...packages].filter((name) => forReference.includes(name))).toEqual([]);
    expect([...packagesOf(everything.files())]).toEqual(expect.arrayContaining(forReference));
  });

  test('is the same, byte for byte, from any folder', async () => {
    await inFolder(async (dir) => {
      const checkout = join(dir, 'elsewhere/checkout');
      for (const path of ['package.json', 'tsconfig.json', 'src', 'scripts/build.ts'])
        cpSync(join(root, path), join(checkout, path), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
      const node = [join(checkout, 'scripts/build.ts'), '--image', join(dir, 'there')];
      await Promise.all([
        promisify(execFile)(process.execPath, node, { cwd: checkout }),
        bundleInto(join(dir, 'here'), 'image'),
      ]);
      const [here, there] = ['here', 'there'].map((name) => digests(join(dir, name)));
      expect(Object.keys(here ?? {}).length).toBeGreaterThan(20);
      expect(there).toEqual(here);
    });
  });

  test('starts `run` from a file of its own, and every other command from another', async () => {
    await inFolder(async (dir) => {
      await bundleInto(dir, 'image');
      rmSync(join(dir, 'image.js'));
      expect(await helpOf(dir, 'run')).toMatch(/^Usage: edge-operator run /);
      await expect(helpOf(dir, 'doctor')).rejects.toThrow('image.js');
      await bundleInto(dir, 'image');
      rmSync(join(dir, 'image-run.js'));
      for (const command of ['agent', 'doctor', 'crds'])
        expect(await helpOf(dir, command)).toMatch(new RegExp(`^Usage: edge-operator ${command} `));
    });
  }, 60_000);

  test('holds every command of production', () => {
    const commands = ['cli/run.ts', 'cli/agent/index.ts', 'cli/doctor.ts', 'cli/crds.ts'];
    expect(image.files()).toEqual(expect.arrayContaining(commands.map((file) => `src/${file}`)));
  });
});

test('the bundle of everything works wherever it is put, with the definitions and samples', async () => {
  await inFolder(async (dir) => {
    await bundleInto(dir, 'everything');
    expect(await helpOf(dir, 'kube')).toMatch(/^Usage: edge-operator kube/);
    for (const path of ['crds', 'deploy/samples']) expect(digests(join(dir, path))).toEqual(digests(join(root, path)));
  });
}, 60_000);

describe('the operator', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'node_modules/fastify/package.json'), 'utf8'));
  const servers = ['fastify', ...Object.keys(dependencies)];

  test('never loads the HTTP framework of the agent, or anything of it', () => {
    const served = (bundled: Bundle, entry: string) =>
      bundled.files(bundled.chunks([entry], { later: true })).filter((file) => {
        const name = packageOf(file);
        return name === undefined ? /^src\/(agent|reference)\//.test(file) : servers.includes(name);
      });
    expect(served(run, 'image-run.ts')).toEqual([]);
    expect(served(image, 'cli/agent/index.ts').length).toBeGreaterThan(100);
  });

  test('starts from no more than it did', () => {
    const bytes = run.startBytes();
    console.info(`run loads ${bytes} bytes`);
    expect(bytes).toBeLessThan(startBytes * 1.1);
    expect(bytes).toBeGreaterThan(startBytes / 2);
  });
});
