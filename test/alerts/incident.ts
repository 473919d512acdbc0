import type { CloudApiOptions } from '../../src/reference/cloud-api/server.ts';
import type { Release } from './release.ts';

/** Something that goes wrong, and is put right as the runbook of its alert says. */
export interface Incident {
  readonly what: string;
  readonly alert: string;
  /** What names the cause: labels that the alert has. */
  readonly names?: Readonly<Record<string, string | RegExp>>;
  /** How much quicker than real the rules are; default 60: a minute is a second. */
  readonly factor?: number;
  /** In the short form too. */
  readonly inShort?: boolean;
  readonly cloud?: Partial<CloudApiOptions>;
  /** A healthy release; resolves to what causes the incident, which resolves to what ends it. */
  readonly arrange: (release: Release) => Promise<() => Promise<() => Promise<unknown>>>;
}
