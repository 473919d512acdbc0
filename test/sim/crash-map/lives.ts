import type { Act, Deed, ObjectRef, Story } from '../core/story.ts';
import { type Life, otherAccount, type Subject, twoAccounts } from './subjects.ts';

const [second, minute] = [1_000, 60_000];

/** When a life begins: until then all that it needs is at rest. */
export const beginsAt = 60 * second;
/** Of what is there already. */
export const bornAt = 20 * second;
/** Within which a boundary belongs to the life: longer than the longest wait after a lost create. */
export const livesForMs = 3 * minute;

const paused = { 'edge-operator.dev/paused': 'true' };
const notPaused = { 'edge-operator.dev/paused': null };

/** The story of one life of a kind; undefined where it has none. */
export function storyOf(subject: Subject, life: Life): Story | undefined {
  if (subject.without[life] !== undefined) return undefined;
  const { before = [subject.manifest], deeds, needs = [] } = chapters[life](subject);
  const acts: Act[] = [
    { at: 0, do: 'start', installation: 'op' },
    ...[...subject.needs, ...needs].map((deed) => ({ ...deed, at: second })),
    ...before.map((object): Act => ({ at: bornAt, do: 'apply', object })),
    ...deeds.map(([after, deed]) => ({ ...deed, at: beginsAt + after })),
  ];
  const cloud = subject.cloud ?? (life === 'account changed' ? twoAccounts : undefined);
  return {
    seed: 1,
    installations: [{ name: 'op' }],
    ...(cloud === undefined ? {} : { cloud }),
    acts,
    settleMs: 3 * minute,
    calmMs: 8 * minute,
  };
}

interface Chapter {
  readonly needs?: readonly Deed[];
  /** What is there already; default the resource. */
  readonly before?: readonly Subject['manifest'][];
  /** After so many milliseconds of the life. */
  readonly deeds: readonly (readonly [after: number, deed: Deed])[];
}

const chapters: Readonly<Record<Life, (subject: Subject) => Chapter>> = {
  create: ({ manifest }) => ({ before: [], deeds: [[0, { do: 'apply', object: manifest }]] }),
  update: (subject) => ({ deeds: [[0, patch(subject, subject.edit)]] }),
  delete: (subject) => ({ deeds: [[0, { do: 'delete', ref: refOf(subject) }]] }),
  import: (subject) => ({
    needs: subject.existing === undefined ? [] : [subject.existing],
    before: [],
    deeds: [[0, { do: 'apply', object: importing(subject) }]],
  }),
  'part removed': (subject) => ({ deeds: [[0, patch(subject, subject.partRemoved)]] }),
  // Refused as long as it is elsewhere, and in order again when it is back.
  'account changed': (subject) => {
    const { moved, movedBy, edit } = subject;
    if (movedBy !== undefined) return { deeds: [[0, movedBy]] };
    const back = Object.fromEntries(Object.keys((moved as { spec: object }).spec).map((field) => [field, null]));
    const { spec } = subject.manifest as unknown as { spec: object };
    return {
      needs: subject.kind === 'AgentTunnel' ? [] : otherAccount,
      deeds: [
        [0, patch(subject, moved)],
        [10 * second, patch(subject, { spec: { ...back, ...spec } })],
        [20 * second, patch(subject, edit)],
      ],
    };
  },
  // What cannot be edited is paused from the start: later there is nothing to hold back.
  pause: (subject) =>
    subject.edit === undefined
      ? { before: [], deeds: [[0, { do: 'apply', object: born(subject, paused) }], resumed(subject)] }
      : {
          deeds: [[0, patch(subject, annotated(paused))], [5 * second, patch(subject, subject.edit)], resumed(subject)],
        },
};

function refOf({ manifest: { kind, metadata } }: Subject): ObjectRef {
  const { name, namespace = '' } = metadata;
  return { kind, namespace, name };
}

const resumed = (subject: Subject) => [10 * second, patch(subject, annotated(notPaused))] as const;
const annotated = (annotations: object) => ({ metadata: { annotations } });

function patch(subject: Subject, changes: object = {}): Deed {
  return { do: 'patch', ref: refOf(subject), patch: changes };
}

function importing(subject: Subject): Subject['manifest'] {
  const { manifest, imports } = subject;
  return imports === undefined ? manifest : born(subject, { 'edge-operator.dev/external-id': imports });
}

function born({ manifest }: Subject, annotations: Readonly<Record<string, string>>): Subject['manifest'] {
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}
