import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomOf } from '../../../test/chaos/random.ts';
import { cpuTimer } from '../../../test/support/elapsed.ts';
import { annotation } from '../reconcile/resource/annotations.ts';
import { withoutBulk } from '../reconcile/resource/bulk.ts';
import { canonical } from '../reconcile/resource/json.ts';
import type { ManagedObject } from '../reconcile/resource/resource.ts';
import { parseSpec } from '../reconcile/resource/spec.ts';
import { parsePolicy } from './cloud/tls-edge-traffic-policy/policy.ts';
import { definitions } from './index.ts';

/*
 * Nothing that a tenant can have admitted keeps the process from all else for long: the largest objects of each kind, and
 * the worst texts that a policy may be read from, in one go each.
 */

const textBytes = 64 * 1024;
/** As much as etcd takes of one object. */
const objectBytes = 1_450_000;
const seed = Number(process.env.TEST_SEED ?? 1);

/** On a machine on which JSON of that size is read in 80 ms; on a slower one as much more. */
let mostMs = 250;

beforeAll(() => {
  const text = `{${repeated(objectBytes, (index) => `"k${index}":1,`)}"z":1}`;
  mostMs *= Math.max(1, tookMs(() => JSON.parse(text)) / 80);
});

/** Of the processor, the quickest of three: a busy machine is no slow product. */
function tookMs(act: () => unknown): number {
  let quickest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && quickest > mostMs / 2; round++) {
    const cpuMs = cpuTimer();
    try {
      act();
    } catch {
      // What is refused must be refused as quickly.
    }
    quickest = Math.min(quickest, cpuMs());
  }
  return quickest;
}

const repeated = (bytes: number, part: (index: number) => string): string => {
  const parts: string[] = [];
  for (let [length, index] = [0, 0]; ; index++) {
    const next = part(index);
    length += next.length;
    if (length > bytes) return parts.join('');
    parts.push(next);
  }
};

const marks = [
  '- ',
  '? ',
  ': ',
  '&a ',
  '*a ',
  '!t ',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  ',',
  '|\n',
  '>\n',
  '#',
  '%',
  '\n',
  '  ',
  '\t',
  'x',
  '1',
  '<<: ',
  '---\n',
  '...\n',
  '\r',
  '@',
  '`',
];

describe('a policy text of 64 KiB', () => {
  const aliases = (count: number) =>
    `a: &a "${'x'.repeat(60_000)}"\n${repeated(5_000, (index) => `b${index % count}: *a\n`)}`;
  test.each([
    ['many keys', repeated(textBytes, (index) => `k${index}: 1\n`)],
    ['a flow map of many keys', `{${repeated(textBytes - 10, (index) => `k${index}: 1,`)}z: 1}`],
    ['many anchors', repeated(textBytes, (index) => `- &a${index} x\n`)],
    ['many anchors with aliases', repeated(textBytes, (index) => `- &a${index} x\n- *a${index}\n`)],
    ['aliases of a long text', aliases(99)],
    [
      'an alias bomb',
      `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${repeated(4_000, (index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]\n`)}`,
    ],
    [
      'merges',
      `a: &a {${repeated(30_000, (index) => `k${index}: 1,`)}z: 1}\n${repeated(30_000, (index) => `b${index}: {<<: *a}\n`)}`,
    ],
    ['deep nesting', '{a: '.repeat(13_000)],
    ['deep blocks', repeated(textBytes, (index) => `${' '.repeat(index)}a:\n`)],
    ['a long text', `a: "${'x'.repeat(65_000)}"`],
    ['escapes', `a: "${'\\u0041'.repeat(10_900)}"`],
    ['keys that are maps', repeated(textBytes, (index) => `{a: ${index}}: 1\n`)],
    ['rules that are none', `inbound:\n${repeated(65_000, () => '- {}\n')}`],
    [
      'JSON of many rules',
      JSON.stringify({ inbound: Array.from({ length: 1_500 }, () => ({ name: 'n', expressions: [], actions: [] })) }),
    ],
    ['JSON nested deeply', `${'['.repeat(32_000)}${']'.repeat(32_000)}`],
    ...marks.map((mark): [string, string] => [JSON.stringify(mark), mark.repeat(textBytes / mark.length)]),
  ])('%s', (_, text) => {
    expect(tookMs(() => canonical(parsePolicy(text, 'a text')))).toBeLessThan(mostMs);
  });

  test(`of marks by chance (TEST_SEED=${seed})`, () => {
    const random = randomOf(seed);
    const pick = <T>(from: readonly T[]): T => from[random.whole(0, from.length - 1)] as T;
    for (let round = 0; round < 25; round++) {
      const few = Array.from({ length: random.whole(1, 5) }, () => pick(marks));
      const words = Array.from({ length: random.whole(1, 40) }, () => pick(few)).join('');
      const text = words.repeat(Math.max(1, Math.floor(textBytes / words.length)));
      const ms = tookMs(() => canonical(parsePolicy(text, 'a text')));
      expect([JSON.stringify(words), ms < mostMs || ms]).toEqual([JSON.stringify(words), true]);
    }
  });
});

describe('the largest object that the API server takes', () => {
  const rule = '{"name":"","expressions":[],"actions":[]},';
  const free = [
    ['many keys', repeated(objectBytes, (index) => `"k${index}":1,`)],
    ['many lists', `"x":[${repeated(objectBytes, () => '[],')}[]],`],
    ['many rules', `"y":[${repeated(objectBytes, () => rule)}1],`],
    ['deep nesting', `"x":${'['.repeat(9_900)}${']'.repeat(9_900)},`],
    ['a long text', `"x":"${'x'.repeat(objectBytes)}",`],
  ] as const;
  const where: readonly (readonly [string, (content: string) => string])[] = [
    ['TlsEdgeTrafficPolicy', (content) => `{"edgeID":"e","policy":{${content}"inbound":[]}}`],
    ['AgentTunnel', (content) => `{"agentRef":{"name":"a"},"proto":"http","addr":"1","options":{${content}"z":1}}`],
  ];
  const cases = where.flatMap(([kind, spec]) => free.map(([what, content]) => [kind, what, spec(content)] as const));

  test.each(cases)('%s of %s', (kind, _, text) => {
    const definition = definitions.find(({ type }) => type.kind === kind);
    if (definition === undefined) throw new Error(kind);
    let object: ManagedObject | undefined;
    const read = () => {
      object = { apiVersion: 'v', kind, metadata: { name: 'n' }, spec: JSON.parse(text) };
      withoutBulk(object);
    };
    expect(tookMs(read)).toBeLessThan(mostMs);
    const checked = object as ManagedObject;
    expect(tookMs(() => parseSpec(definition.spec, checked))).toBeLessThan(mostMs);
    expect(parseSpec(definition.spec, checked)).toMatchObject({ report: { reason: 'Rejected' } });
  });

  test.each([
    ['of nobody', (index: number) => `edge-operator.dev/a${index}`],
    ['of the operator, each as long as can be', (index: number) => Object.values(annotation)[index]],
  ])('annotations %s', (_, nameOf) => {
    const names = Array.from({ length: 4_000 }, (_, index) => nameOf(index)).filter((name) => name !== undefined);
    // As much as the API server takes of all of them.
    const value = 'x'.repeat(Math.floor((256 * 1_024) / names.length) - 40);
    const annotations = Object.fromEntries(names.map((name) => [name, value]));
    const object = { apiVersion: 'v', kind: 'AgentTunnel', metadata: { name: 'n', annotations }, spec: {} };
    expect(tookMs(() => withoutBulk(object))).toBeLessThan(mostMs);
    expect(JSON.stringify(withoutBulk(object)).length).toBeLessThan(17 * 1_024);
  });

  test('a SAML module with the longest metadata and groups', () => {
    const definition = definitions.find(({ type }) => type.kind === 'HttpsRouteModules');
    if (definition === undefined) throw new Error('HttpsRouteModules');
    const authorizedGroups = Array.from({ length: 1_000 }, (_, index) => String(index).padEnd(256, '&'));
    const saml = { idpMetadata: '<a>&amp;</a>'.repeat(5_400), authorizedGroups };
    const spec = { edgeID: 'e', routeID: 'r', saml };
    const object: ManagedObject = { apiVersion: 'v', kind: 'HttpsRouteModules', metadata: { name: 'n' }, spec };
    expect(tookMs(() => parseSpec(definition.spec, object))).toBeLessThan(mostMs);
    expect(parseSpec(definition.spec, object)).toMatchObject({ spec: {} });
  });
});
