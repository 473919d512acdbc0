import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { tool } from '../../scripts/tools.ts';
import { definitions } from '../../src/operator/kinds/index.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { recorded } from './recorded.ts';
import { type State, states } from './states.ts';

/*
 * How kstatus and the health check for Argo CD read every recorded status, by the library and the interpreter that Flux
 * and Argo CD use.
 */

interface Reading {
  readonly kstatus: { readonly status: string; readonly message: string };
  readonly argo: { readonly status: string; readonly message: string };
}

const { data }: { data: Readonly<Record<string, string>> } = parse(
  readFileSync(join(import.meta.dirname, '../../deploy/argocd/argocd-cm.yaml'), 'utf8'),
);
const keyOf = (kind: string) => `resource.customizations.health.edge-operator.dev_${kind}`;

/** The readings of each object, in order; all of one kind. */
async function read(kind: string, objects: readonly object[]): Promise<readonly Reading[]> {
  const dir = mkdtempSync(join(tmpdir(), 'edge-operator-test-'));
  const script = join(dir, 'health.lua');
  writeFileSync(script, data[keyOf(kind)] ?? '');
  try {
    const child = spawn(await tool('health'), [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify(objects));
    return (await json(child.stdout)) as readonly Reading[];
  } finally {
    rmSync(dir, { recursive: true });
  }
}

test('Argo CD is told of every kind, and of no other', () => {
  expect(Object.keys(data).sort()).toEqual(definitions.map(({ type }) => keyOf(type.kind)).sort());
});

const kinds = [...new Set(recorded().map(({ kind }) => kind))];

describe.each(kinds)('%s', (kind) => {
  const all = recorded().filter((each) => each.kind === kind);
  const objects = all.map(({ object }) => object);

  test('is read right in every state', async () => {
    const readings = await read(kind, objects);
    const got = all.map(({ state }, i) => [state, readings[i]?.kstatus.status, readings[i]?.argo.status]);
    expect(got).toEqual(all.map(({ state }) => [state, states[state as State].kstatus, states[state as State].argo]));
    for (const { argo } of readings) expect(argo.message).not.toBe('');
  });

  test('is current for nobody once its spec changed, until the operator has seen that', async () => {
    const changed = objects.map((object) => {
      const { generation = 0, deletionTimestamp, ...metadata } = object.metadata;
      return { ...object, metadata: { ...metadata, generation: generation + 1 } };
    });
    for (const { kstatus, argo } of await read(kind, changed)) {
      expect([kstatus.status, argo.status]).toEqual(['InProgress', 'Progressing']);
    }
  });

  test('is on its way out for everybody once it is being deleted', async () => {
    const deleted = objects.map((object) => ({
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    for (const { kstatus, argo } of await read(kind, deleted)) {
      expect([kstatus.status, argo.status]).toEqual(['Terminating', 'Progressing']);
    }
  });

  test('what only a person can help with says so to both, and what that is', async () => {
    const stalled = objects.filter((object) => isStalled(object) && object.metadata.deletionTimestamp === undefined);
    for (const [i, { kstatus, argo }] of (await read(kind, stalled)).entries()) {
      expect(kstatus.status).toBe('Failed');
      expect(['Degraded', 'Suspended']).toContain(argo.status);
      const message = conditionOf(stalled[i] as ManagedObject, 'Ready')?.message;
      expect([kstatus.message, argo.message]).toEqual([message, message]);
    }
  });
});

function isStalled(object: ManagedObject): boolean {
  return conditionOf(object, 'Stalled')?.status === 'True';
}
