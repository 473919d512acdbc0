import { z } from 'zod';
import { ApiError } from '../../../common/http/errors.ts';
import { contextOf } from '../context.fixture.ts';
import { References } from '../referents/references.ts';
import { annotation } from '../resource/annotations.ts';
import { Memory } from '../resource/memory.ts';
import { type Condition, type ManagedObject, type ManagedSpec, managedSpec } from '../resource/resource.ts';
import type { Annotations, ObjectWriter } from '../resource/writer.ts';
import { PartsFlow } from './flow.ts';
import type { Part } from './part.ts';
import type { Referred } from './part-reconciler.ts';

interface Spec extends ManagedSpec {
  readonly thing?: object | undefined;
}

type Thing = Part<Spec, undefined, object, object>;

export const createSettleMs = 60_000;

export const nothingReferred: Referred = { read: async () => '', hasChanged: () => false };

/** A kind of one part, and the process that works on it. */
export class PartsFixture {
  now = 0;
  readonly memory = new Memory();
  /** What was sent. */
  readonly calls: string[] = [];
  /** So many deletes have no answer. */
  lost = 0;

  readonly part: Thing = {
    ...{ name: 'thing', condition: 'ThingReady', displayName: 'thing' },
    desired: async ({ thing }) => thing,
    diff: () => [],
    status: () => ({}),
    get: async () => (this.calls.includes('delete') ? undefined : {}),
    replace: async () => {
      this.calls.push('put');
      return {};
    },
    delete: async () => {
      this.calls.push('delete');
      if (this.lost-- > 0) throw new ApiError('reset', { reason: 'Unreachable', definite: false });
      return 'deleted';
    },
  };

  /** @param shown what there is to show of each part is put there */
  flow(parts: readonly Thing[] = [this.part], shown = new Map<string, unknown>()): PartsFlow<Spec, undefined> {
    return new PartsFlow<Spec, undefined>(
      {
        spec: z.object({ ...managedSpec, thing: z.object({}).optional() }),
        parent: () => 'p',
        parts,
        status: (statuses) => {
          for (const [name, status] of statuses) shown.set(name, status);
          return {};
        },
      },
      { references: new References({ referents: {} as never, enqueue: () => {} }), createSettleMs },
    );
  }

  contextFor(object: ManagedObject, more: Partial<ObjectWriter> = {}) {
    const same = async () => object;
    const writer = { insist: same, record: same, ...more };
    const { memory } = this;
    const connection = { key: 'default', client: undefined };
    return contextOf(object, { writer, connection, memory, now: () => this.now });
  }
}

/** A part on record, as another process left it. */
export function left(shown: Partial<Condition> | undefined, { generation = 2, spec = { thing: {} } as object } = {}) {
  const condition = { type: 'ThingReady', status: 'True', observedGeneration: 1, reason: 'Available', ...shown };
  const records = { [annotation.appliedParts]: 'thing', [annotation.recordOf]: 'u', [annotation.account]: 'default' };
  return {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Things' },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation, annotations: records },
    spec: { managementPolicy: 'Manage', ...spec },
    status: { conditions: shown === undefined ? [] : [condition as Condition] },
  } satisfies ManagedObject;
}

/** Writes annotations, and nothing else. */
export function annotating(first: ManagedObject): Partial<ObjectWriter> {
  let object = first;
  const annotate = async (changes: Annotations) => {
    const all = Object.entries({ ...object.metadata.annotations, ...changes });
    const kept = all.filter((each): each is [string, string] => each[1] !== null);
    object = { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } };
    return object;
  };
  return { record: (_, records) => annotate(records), insist: (_, changes) => annotate(changes(object)) };
}

export const deleted = (object: ManagedObject): ManagedObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
});
