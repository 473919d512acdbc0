import { expect, test } from '@jest/globals';
import { parseYaml } from './yaml.ts';

test('one document is read', () => expect(parseYaml('a: [1]')).toEqual({ a: [1] }));

test.each([
  ['a: [1\n', 'at line 2, column 1'],
  ['a: 1\n---\nb: 2\n', 'more than one document'],
  ['a: secret\na: 2\n', 'Map keys must be unique at line 2, column 1'],
  ['a: "secret', 'at line 1'],
  ['a: |secret\n x', /extra characters at line 1, column 4$|extra characters at line 1, column 5$/],
  ['a: *secret', 'Unresolved alias'],
  ['x: !secret! y', 'A tag has no suffix at line 1'],
  ['%YAML 9.secret\n---\na: 1\n', 'Unsupported YAML version at line 1'],
  [']secret: 1', 'Unexpected flow-seq-end token in YAML document at line 1, column 1'],
  ['{"a" "b"}', 'Missing , or : between'],
])('%j is one line that says where', (text, message) => {
  const read = () => parseYaml(text);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/\n|:$|secret/);
});

test.each([
  ['lists', `a: 1\nb: ${'['.repeat(4_000)}${']'.repeat(4_000)}`],
  ['lists, one below the other', `${'- '.repeat(4_000)}x`],
  ['maps', `${'{"a":'.repeat(4_000)}1${'}'.repeat(4_000)}`],
])('%s that nest beyond what can be read', (_what, text) => {
  expect(() => parseYaml(text)).toThrow(new Error('it nests too deeply'));
});

test.each([
  ...['a: secret\nb: {x: 1, x: 2}\n', '? a\n: 1\n? a\n: 2\n', '1: a\n1: b\n', '<<: {a: 1}\n<<: {b: 1}\n'],
  ...['1: a\n"1": b\n', 'true: a\n"true": b\n', '1.0: a\n1: b\n', '!!str 1: a\n1: b\n', '8080: {}\n"8080": {}\n'],
])('%j has a key twice', (text) => {
  expect(() => parseYaml(text)).toThrow(/^Map keys must be unique at line \d+, column \d+$/);
});

test.each([
  ['null: secret', 1],
  ['~: secret', 1],
  [': secret', 1],
  ['? [a, secret]\n: 1', 3],
  ['{a: secret}: 1', 1],
  ['%YAML 1.1\n---\n2001-01-01: secret', 1],
])('%j has a key that is no text, number or boolean', (text, column) => {
  const line = text.split('\n').length === 3 ? 3 : 1;
  const message = `Map keys must be written as text, number or boolean at line ${line}, column ${column}`;
  expect(() => parseYaml(text)).toThrow(new Error(message));
});

test.each([
  ['__proto__: secret', 1],
  ['tunnels: {"__proto__": {a: secret}}', 11],
])('%j has a key that is no property like others', (text, column) => {
  expect(() => parseYaml(text)).toThrow(new Error(`Map keys must not be __proto__ at line 1, column ${column}`));
});

test.each([
  ['a: !secret x', 'line 1, column 12'],
  ['a: 1\nb: !secret', 'line 2, column 11'],
  ['a: !!set {p, q}', 'line 1, column 10'],
  ['!!omap [x: 1]', 'line 1, column 8'],
  ['a: !!binary aGVsbG8=', 'line 1, column 13'],
  ['a: !!timestamp 2001-01-01', 'line 1, column 16'],
  ['!secret a: 1', 'line 1, column 9'],
  ['%TAG ! tag:secret,2000:\n---\na: !foo 1', 'line 3, column 9'],
])('%j has a tag of another type than those of JSON', (text, place) => {
  const message = `Tags must be !!str, !!int, !!float, !!bool, !!null, !!map or !!seq at ${place}`;
  expect(() => parseYaml(text)).toThrow(new Error(message));
});

test.each([
  ['a: !!int secret', 'Unresolved tag at line 1, column 4'],
  ['a: !!map [secret]', 'Unresolved tag at line 1, column 4'],
  ['%secret x\n---\na: 1', 'Unknown directive at line 1, column 1'],
])('%j is refused, not only warned of', (text, message) => {
  expect(() => parseYaml(text)).toThrow(new Error(message));
});

test.each([
  ['!!map {a: !!seq [!!str 1, !!int 2, !!float 1.5, !!bool true, !!null null]}', { a: ['1', 2, 1.5, true, null] }],
  ['x: &x {a: 1}\nz: {<<: *x}', { x: { a: 1 }, z: { '<<': { a: 1 } } }],
  ['%YAML 1.1\n---\nx: &x {a: 1}\nz: {<<: *x, b: 2}', { x: { a: 1 }, z: { a: 1, b: 2 } }],
  ['1: a\ntrue: b\n"": c', { 1: 'a', true: 'b', '': 'c' }],
  ['{\n"a": [\n1\n],\n"b": {\n}\n}', { a: [1], b: {} }],
  ['a: &x: 1', { a: 1 }],
])('%j loses nothing', (text, value) => expect(parseYaml(text)).toEqual(value));

test('where merges are taken, what << names is part of its map', () => {
  const read = (text: string) => parseYaml(text, { merges: true });
  expect(read('x: &x {a: 1, b: 2}\nz: {<<: *x, b: 3}')).toEqual({ x: { a: 1, b: 2 }, z: { a: 1, b: 3 } });
  expect(() => read('x: &x secret\nz: {<<: *x}')).toThrow('Merge sources must be maps or map aliases');
});

test('many keys take a time that grows with their number only', () => {
  const msFor = (keys: number) => {
    const text = Array.from({ length: keys }, (_, key) => `key${key}: v`).join('\n');
    const startedAt = performance.now();
    expect(Object.keys(parseYaml(text) as object)).toHaveLength(keys);
    return performance.now() - startedAt;
  };
  msFor(1_000);
  const ratios = Array.from({ length: 3 }, () => msFor(16_000) / msFor(2_000));
  // Of a quadratic one it is 64.
  expect(Math.min(...ratios)).toBeLessThan(24);
});
