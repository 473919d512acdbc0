/** The two command lines of the README on macOS and Linux, x64 and arm64: CONTRIBUTING.md says what each package does there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

interface Locked {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly hasInstallScript?: boolean;
}

const root = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(textOf('package.json'));
const lock = textOf('package-lock.json');
const packages: Readonly<Record<string, Locked>> = JSON.parse(lock).packages;

const platforms = [
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
  { os: 'linux', cpu: 'x64' },
];

type Fetched = 'by its install script' | 'on first use' | 'by npm only';

/** All that have native files: what they are for, and how these come where the lockfile lacks them. */
const native: Readonly<
  Record<string, { readonly use: 'demo and test' | 'test' | 'other'; readonly fetched: Fetched }>
> = {
  node: { use: 'demo and test', fetched: 'by its install script' },
  esbuild: { use: 'test', fetched: 'by its install script' },
  // How Jest finds modules.
  'unrs-resolver': { use: 'test', fetched: 'on first use' },
  // Of Jest's watch mode, which alone loads it.
  '@parcel/watcher': { use: 'other', fetched: 'by npm only' },
  '@biomejs/biome': { use: 'other', fetched: 'by npm only' },
  typescript: { use: 'other', fetched: 'by npm only' },
};

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const isForOne = ({ os, cpu }: Locked) => os !== undefined || cpu !== undefined;
const locked = Object.entries(packages).filter(([path]) => path !== '');
const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));

/** Packages of single platforms that the package names, whether the lockfile has them or not. */
const variantsOf = ({ optionalDependencies = {} }: Locked) =>
  Object.keys(optionalDependencies).filter(
    (name) => /\b(darwin|linux|win32)\b/.test(name) || isForOne(packages[`node_modules/${name}`] ?? {}),
  );

test('every package with native files or an install script is known', () => {
  const found = locked.filter(([, one]) => variantsOf(one).length > 0).map(([path]) => nameOf(path));
  expect(new Set([...found, ...scripted])).toEqual(new Set(Object.keys(native)));
});

test('every package of a single platform belongs to one of them', () => {
  const variants = new Set(Object.keys(native).flatMap((name) => variantsOf(packages[`node_modules/${name}`] ?? {})));
  const names = locked.filter(([, one]) => isForOne(one)).map(([path]) => nameOf(path));
  expect(names.filter((name) => !variants.has(name))).toEqual([]);
});

test('install scripts run where they fetch what is missing, and nowhere else', () => {
  const wanted = scripted.map((name) => [name, native[name]?.fetched === 'by its install script']);
  expect(manifest.allowScripts).toEqual(Object.fromEntries(wanted));
});

test('what fetches its native files on first use still can', () => {
  const lazy = Object.keys(native).filter((name) => native[name]?.fetched === 'on first use');
  const unable = lazy.filter((name) => !packages[`node_modules/${name}`]?.dependencies?.['napi-postinstall']);
  expect(unable).toEqual([]);
});

test.each(platforms)('on $os $cpu the tests lack no native file that cannot be fetched', ({ os, cpu }) => {
  const onTheWay = Object.entries(native).filter(([, { use }]) => use !== 'other');
  const lacking = onTheWay.filter(([name, { fetched }]) => {
    const variants = variantsOf(packages[`node_modules/${name}`] ?? {});
    const has = variants.some((variant) => {
      const one = packages[`node_modules/${variant}`];
      return one?.os?.includes(os) && one.cpu?.includes(cpu);
    });
    return !has && fetched === 'by npm only';
  });
  expect(lacking).toEqual([]);
});

test('versions are exact, and no file says where packages were fetched', () => {
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
  expect(lock).not.toMatch(/"resolved"/);
});

test('.nvmrc and the Dockerfile have the Node of package.json', () => {
  expect(textOf('.nvmrc').trim()).toBe(manifest.devDependencies.node);
  const images = [...textOf('Dockerfile').matchAll(/^FROM .*\bnode:([\d.]+)-/gm)].map(([, version]) => version);
  expect(images).toEqual([manifest.devDependencies.node, manifest.devDependencies.node]);
});

test('the lockfile is of this package.json: npm install takes what it has', () => {
  const { dependencies, devDependencies } = JSON.parse(lock).packages[''];
  expect({ dependencies, devDependencies }).toEqual({
    dependencies: manifest.dependencies,
    devDependencies: manifest.devDependencies,
  });
});

test('.editorconfig has what biome.json has', () => {
  const { indentStyle, indentWidth, lineWidth } = JSON.parse(textOf('biome.json')).formatter;
  const section = textOf('.editorconfig').split(/^\[/m)[1];
  expect(section).toContain(`\nindent_style = ${indentStyle}\n`);
  expect(section).toContain(`\nindent_size = ${indentWidth}\n`);
  expect(section).toContain(`\nmax_line_length = ${lineWidth}\n`);
});
