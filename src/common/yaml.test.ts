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
