import { cureOf } from './cure.ts';

/** Something that is not as it should be, and what cures it. */
export interface Finding {
  readonly problem: string;
  readonly cure: string;
}

/** One thing that is looked at. It fails where it cannot be found out. */
export interface Check {
  readonly name: string;
  run(): Promise<Looked>;
}

export interface Looked {
  /** What was looked at, for people: `9 kinds`. */
  readonly at?: string;
  readonly findings: readonly Finding[];
  /** Why it could not be found out. */
  readonly failed?: string;
  /** What to do about that. */
  readonly cure?: string;
}

export interface Result extends Looked {
  readonly check: string;
}

/** Every check, in this order, whatever comes of the others. */
export async function look(checks: readonly Check[]): Promise<readonly Result[]> {
  return Promise.all(
    checks.map(async ({ name, run }) => {
      try {
        return { check: name, ...(await run()) };
      } catch (error) {
        const cure = cureOf(error);
        const failed = error instanceof Error ? error.message : String(error);
        return { check: name, findings: [], failed, ...(cure !== undefined && { cure }) };
      }
    }),
  );
}
