import { expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { openDatabase } from './database.ts';
import { operations } from './operations.ts';
import { createWorld } from './world.ts';

test('the table of section 4: 33 operations, each once, with its status', () => {
  const all = operations(createWorld(openDatabase(), systemRuntime));
  expect(all).toHaveLength(33);
  expect(new Set(all.map(({ method, path }) => `${method} ${path}`)).size).toBe(33);
  const statuses = { POST: 201, GET: 200, PUT: 200, PATCH: 200, DELETE: 204 };
  for (const { method, status } of all) expect(status).toBe(statuses[method]);
});
