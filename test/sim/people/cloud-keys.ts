import { mainKey } from '../core/story.ts';

/**
 * The accounts of the cloud and the keys that open them, the same in every story. Who uses which: `main` is the default
 * account of operators; the plain scene uses `blue` and `green`; each of the others belongs to one habit.
 */
export const cloudKeys = {
  main: [mainKey, 'main-key-CANARY-1'],
  blue: ['blue-key-CANARY-2', 'blue-key-CANARY-3'],
  green: ['green-key-CANARY-4', 'green-key-CANARY-5'],
  shared: ['shared-key-CANARY-6', 'shared-key-CANARY-12'],
  doomed: ['doomed-key-CANARY-7'],
  poor: ['poor-key-CANARY-8'],
  narrow: ['narrow-key-CANARY-9'],
  big: ['big-key-CANARY-10'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

export type CloudAccountName = keyof typeof cloudKeys;

export const keyOf = (account: CloudAccountName): string => cloudKeys[account][0];

/** One that the cloud refuses. */
export const revokedKey = 'revoked-key-CANARY-11';

export const apiKeys: readonly string[] = Object.entries(cloudKeys).flatMap(([account, keys]) =>
  keys.map((key) => `${account}=${key}`),
);
