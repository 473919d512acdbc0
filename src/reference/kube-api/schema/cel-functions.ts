import { isIP } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { equal } from '../json.ts';

type List = readonly unknown[];

/** Adds the functions that Kubernetes adds to CEL (lists, regular expressions, URLs, IP addresses), as far as CRDs use them. */
export function addKubernetesFunctions(environment: Environment): Environment {
  return environment
    .registerFunction('string.find(string): string', (text: string, pattern: string) => findAll(text, pattern)[0] ?? '')
    .registerFunction('string.findAll(string): list<string>', findAll)
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, to),
    )
    .registerFunction('string.charAt(int): string', (text: string, index: bigint) => [...text][Number(index)] ?? '')
    .registerFunction('list.isSorted(): bool', (list: List) => list.every((v, i) => i === 0 || !less(v, list[i - 1])))
    .registerFunction('list.sum(): dyn', (list: List) => (list as readonly bigint[]).reduce((a, b) => a + b, 0n))
    .registerFunction('list.min(): dyn', (list: List) => list.reduce((a, b) => (less(b, a) ? b : a)))
    .registerFunction('list.max(): dyn', (list: List) => list.reduce((a, b) => (less(a, b) ? b : a)))
    .registerFunction('list.indexOf(dyn): int', (list: List, item: unknown) =>
      BigInt(list.findIndex((other) => equal(other, item))),
    )
    .registerFunction('list.lastIndexOf(dyn): int', (list: List, item: unknown) =>
      BigInt(list.findLastIndex((other) => equal(other, item))),
    )
    .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text) || text.startsWith('/'))
    .registerFunction('isIP(string): bool', (text: string) => isIP(text) !== 0);
}

const less = (a: unknown, b: unknown) => (a as bigint) < (b as bigint);

function findAll(text: string, pattern: string): string[] {
  const matcher = RE2JS.compile(pattern).matcher(text);
  const found: string[] = [];
  while (matcher.find()) found.push(matcher.group() ?? '');
  return found;
}
