import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const dir = import.meta.dirname;
const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(name),
);

test('oracles know nothing of the operator: a common mistake would hide itself', () => {
  expect(files.length).toBeGreaterThan(50);
  const imports = files.flatMap((file) =>
    [...readFileSync(join(dir, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from = '']) => ({ file, from })),
  );
  expect(imports.filter(({ from }) => from.includes('src/operator'))).toEqual([]);
});
