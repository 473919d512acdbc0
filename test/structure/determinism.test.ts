import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const src = join(import.meta.dirname, '../../src');

/** Ways to come by time, chance, the network, files or the process without being given them, with an example each. */
const ways: readonly (readonly [name: string, pattern: RegExp, example: string])[] = [
  ['Date.now', /\bDate\.now\b/, 'const now = Date.now;'],
  ['new Date()', /\bnew Date(?!\()|\bnew Date\(\s*\)/, 'new Date().toISOString()'],
  ['performance', /\bperformance\.|node:perf_hooks/, 'performance.now()'],
  ['process.hrtime', /\bhrtime\b|\bprocess\.uptime\b/, 'process.hrtime.bigint()'],
  ['a timer', /\bset(?:Timeout|Interval|Immediate)\(|node:timers/, 'setTimeout(() => {}, 5)'],
  ['AbortSignal.timeout', /\bAbortSignal\.timeout\b/, 'AbortSignal.timeout(5)'],
  ['Math.random', /\bMath\.random\b/, 'random = Math.random'],
  [
    'a random of crypto',
    /\brandom(?:UUID|Bytes|Int)\b|\bgetRandomValues\b|\bgenerateKey/,
    "import { randomUUID } from 'node:crypto';",
  ],
  ['hostname', /(?<!\.)\bhostname\(|\bos\.hostname\b/, 'const instance = hostname();'],
  ['a dispatcher', /\bnew (?:Agent|ProxyAgent|EnvHttpProxyAgent|Pool)\(/, 'new Agent({ connections: 1 })'],
  ['fetch', /(?<![.\w])fetch\(/, "await fetch('http://a')"],
  ['a file', /node:fs\b/, "import { readFile } from 'node:fs/promises';"],
  ['the environment', /\bprocess\.env\b|\bhomedir\b/, 'process.env.HOME'],
  // Its version is the same to all.
  ['the process', /\bprocess\.(?!env\b|version\b|hrtime\b|uptime\b)\w|node:process/, "process.on('exit', stop);"],
  ['a program', /node:child_process|node:worker_threads|@kubernetes\/client-node/, "import 'node:child_process';"],
  ['a listener', /\bcreateServer\(|\.listen\(/, 'createServer(app).listen(80)'],
  ['observers', /\bcollectDefaultMetrics\(|\bglobalRegistry\b|\bregister\./, 'collectDefaultMetrics()'],
  ['AbortSignal.any', /\bAbortSignal\.any\b/, 'AbortSignal.any([signal, stop])'],
  ['a global', /\bglobalThis\b|\bsetGlobalDispatcher\b/, 'globalThis.log = log'],
  ['the system', /\bsystem(?:Runtime|Clock)\b/, 'clock ?? systemClock'],
];

/** The only files that do, and why. */
const adapters: Readonly<Record<string, { readonly ways: readonly string[]; readonly why: string }>> = {
  'common/clock.ts': {
    ways: ['Date.now', 'a timer', 'AbortSignal.timeout', 'the system'],
    why: 'is the clock of the system',
  },
  'common/private-file.ts': { ways: ['a file'], why: 'makes a data file for this user alone' },
  'common/runtime.ts': {
    ways: ['performance', 'Math.random', 'a random of crypto', 'hostname', 'a file', 'the environment', 'the system'],
    why: 'is the runtime of the system',
  },
  'common/listen.ts': { ways: ['a listener'], why: 'is for servers, which listen only where a setting says so' },
  'common/logger.ts': {
    ways: ['new Date()', 'the process'],
    why: 'dates and writes lines of the log, which the operator is given',
  },
  'common/dated.ts': { ways: ['the system'], why: 'leaves to Node what is dated by the clock of the system' },
  'common/http-server/answer-on.ts': { ways: ['a timer'], why: 'ends connections, which only a process has' },
  'common/http-server/read-out.ts': {
    ways: ['a timer'],
    why: 'reads before a connection ends, which only a process has',
  },
  'common/make-folder.ts': { ways: ['a file'], why: 'makes the folder that a flag of a command names' },
  'common/output.ts': {
    ways: ['new Date()', 'a file'],
    why: 'writes those lines, and knows of files how much of a line they took',
  },
  'common/http/http-client.ts': { ways: ['a dispatcher'], why: 'connects by itself where no dispatcher is given' },
  'common/http/proxy.ts': {
    ways: ['a dispatcher', 'the environment'],
    why: 'connects by the proxy that variables of the system name, where no dispatcher is given',
  },
  'operator/kube/auth-plugin.ts': {
    ways: ['a program'],
    why: 'runs the programs that a kubeconfig names, by client-node; reached for no other kubeconfig',
  },
  'operator/kube/transport.ts': { ways: ['a dispatcher'], why: 'connects by itself where no dispatcher is given' },
  'operator/metrics/http.ts': { ways: ['a listener'], why: 'serves metrics and health, where a setting says so' },
  'operator/metrics/metrics.ts': {
    ways: ['the process', 'observers'],
    why: 'observes the process, where its metrics are served',
  },
  'reference/cloud-api/core.ts': { ways: ['the system'], why: 'is composed here, where the system is the default' },
  'reference/cloud-api/faults/inject.ts': {
    ways: ['a timer'],
    why: 'lifts the time limit of a connection, which only a process has',
  },
  'reference/cloud-api/seed/read.ts': { ways: ['a file'], why: 'reads what a flag of the command names' },
  'reference/cloud-api/server.ts': { ways: ['a listener'], why: 'starts a process of its own' },
  'reference/kube-api/reads/batches.ts': { ways: ['the process'], why: 'measures what its connections take of a turn' },
  'reference/kube-api/certificate.ts': {
    ways: ['a random of crypto'],
    why: 'makes keys for connections, which only a process has',
  },
  'reference/kube-api/core.ts': { ways: ['the system'], why: 'is composed here, where the system is the default' },
  'reference/kube-api/discovery/discovery.ts': { ways: ['the process'], why: 'says which platform it runs on' },
  'reference/kube-api/types/load-crds.ts': { ways: ['a file'], why: 'reads what a flag of the command names' },
  'reference/kube-api/server.ts': {
    ways: ['the process', 'a listener', 'the system'],
    why: 'starts a process of its own',
  },
  'reference/kube-api/reads/soon.ts': {
    ways: ['a timer', 'the system'],
    why: 'asks a real process for the end of its turn',
  },
  'operator/operator.ts': { ways: ['the system'], why: 'is the composition root, where the system is the default' },
};

/** Comments may speak of it. */
function waysIn(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return ways.filter(([, pattern]) => pattern.test(code)).map(([name]) => name);
}

function sources(room: string): readonly string[] {
  return readdirSync(join(src, room), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(path))
    .map((path) => join(room, path));
}

test('time, chance, the network, files and variables reach the operator and the reference servers by their runtime alone', () => {
  const files = ['operator', 'reference', 'common'].flatMap(sources);
  expect(files.length).toBeGreaterThan(250);
  const found = files.map((path) => [path, waysIn(readFileSync(join(src, path), 'utf8'))] as const);
  const expected = Object.entries(adapters).map(([path, adapter]) => [path, adapter.ways]);
  expect(Object.fromEntries(found.filter(([, each]) => each.length > 0))).toEqual(Object.fromEntries(expected));
});

test.each(ways)('%s is noticed', (name, _, example) => {
  expect(waysIn(`const before = 1;\n${example}\n`)).toContain(name);
  expect(waysIn(`/** ${example} */\n  // ${example}\n`)).toEqual([]);
});
