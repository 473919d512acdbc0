import { cp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BuildResult, build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** What the embedded Kubernetes API and the demo read. */
const beside = ['crds', 'deploy/samples'];

/** What is bundled: every command, those of the production image, or the one that it is there for, alone. */
export type Program = 'main' | 'image' | 'image-run';

/** Fastify loads these to compile the schemas of routes; the agent's have none, so that the image holds no compiler. */
const noSchemaCompilers: Plugin = {
  name: 'no schema compilers',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^@fastify\/(ajv|fast-json-stringify)-compiler$/ }, ({ path }) => ({
      path,
      namespace: 'left out',
    }));
    onLoad({ filter: /.*/, namespace: 'left out' }, ({ path }) => ({
      contents: `module.exports = () => () => { throw new Error('${path} is not in this bundle'); };`,
    }));
  },
};

/** What our own sources may import of undici: no fetch, WebSocket, cache or mocks. Whoever imports more is told so by the build. */
const undici = `
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  import api from 'undici/lib/api/index.js';
  Object.assign(Dispatcher.prototype, api);
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';
  export { default as Pool } from 'undici/lib/dispatcher/pool.js';
  export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';`;

/** Some packages take in much that nobody here asks for, and that is read and kept at every start. */
const leanPackages: Plugin = {
  name: 'lean packages',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^undici$/ }, ({ path, importer }) =>
      importer.startsWith(join(root, 'src')) ? { path, namespace: 'lean' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'lean' }, () => ({ contents: undici, resolveDir: root }));
    // Messages in other languages.
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
    // What winston says of itself, in colours, to whoever debugs winston.
    onLoad({ filter: /\/@dabh\/diagnostics\/node\/index\.js$/ }, () => ({
      contents: 'module.exports = () => () => {};',
    }));
    // Schemas are written in zod, and read from nowhere.
    onLoad({ filter: /\/zod\/v4\/classic\/from-json-schema\.js$/ }, () => ({
      contents: 'export const fromJSONSchema = undefined;',
    }));
  },
};

/**
 * Who imports a module of Node's has all its getters run: `node:http` alone then loads and keeps a copy of undici, for the
 * `WebSocket` that it shows.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy built-in modules',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'built in' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'built in' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/** Bundles what is used of the dependencies: a third of the start time and half of the memory of loading them whole. */
export async function bundle(program: Program, outdir?: string): Promise<BuildResult<{ metafile: true }>> {
  const isOfImage = program !== 'main';
  return build({
    absWorkingDir: root,
    entryPoints: [`src/${program}.ts`],
    outdir: outdir ?? 'dist',
    write: outdir !== undefined,
    bundle: true,
    splitting: true,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Paths stand in the output: they must not say where this machine keeps its packages.
    preserveSymlinks: true,
    // The image has no sources to show, and maps would make names depend on where the folder is.
    sourcemap: !isOfImage && outdir !== undefined && 'linked',
    legalComments: 'none',
    plugins: [leanPackages, lazyBuiltins, ...(isOfImage ? [noSchemaCompilers] : [])],
    // The parser of HTTP that undici tries out stays where it is, as in the undici that Node brings.
    define: { esbuildDetection: 'true' },
    // Names stay, for the stacks in the log.
    minifyWhitespace: isOfImage,
    minifySyntax: isOfImage,
    // CommonJS dependencies call require(), which ES modules do not have.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
}

/**
 * Of the image, `run` has files of its own. Those that it had in common with the other commands were fifty: Node looked for them
 * so often that V8 took its optimising compiler into memory for that alone.
 */
const mainOfImage = `#!/usr/bin/env node
await import(process.argv[2] === 'run' ? './image-run.js' : './image.js');
`;

/** Everything, or what the image holds, as `main.js` and what that needs. */
export async function bundleInto(outdir: string, what: 'everything' | 'image'): Promise<void> {
  const to = resolve(outdir);
  await rm(to, { recursive: true, force: true });
  if (what === 'image') {
    await Promise.all([bundle('image', to), bundle('image-run', to)]);
    await writeFile(join(to, 'main.js'), mainOfImage, { mode: 0o755 });
  } else {
    await bundle('main', to);
    for (const path of beside) await cp(join(root, path), join(to, path), { recursive: true });
  }
  // The inspector page is served as it is.
  await cp(join(root, 'src/agent/page'), join(to, 'page'), { recursive: true });
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { image: { type: 'boolean' } } });
  const [outdir = 'dist'] = positionals;
  await bundleInto(outdir, values.image === true ? 'image' : 'everything');
}
