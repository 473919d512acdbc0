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
  [']secret: 1', 'Unexpected flow-seq-end token in YAML document at line 1, column 1'],
  ['{"a" "b"}', 'Missing , or : between'],
])('%j is one line that says where', (text, message) => {
  const read = () => parseYaml(text);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/\n|:$|secret/);
});

test('a tag that means nothing is no warning on stderr', () => expect(parseYaml('a: !secret x')).toEqual({ a: 'x' }));

test.each(['a: secret\nb: {x: 1, x: 2}\n', '? a\n: 1\n? a\n: 2\n', '1: a\n1: b\n'])('%j has a key twice', (text) => {
  expect(() => parseYaml(text)).toThrow(/^Map keys must be unique at line \d+, column \d+$/);
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
