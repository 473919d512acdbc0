/** The record as it is kept. */
export interface Stored {
  /** What each of those before wrote who may have sent for the same accounts. */
  readonly texts: readonly string[];
  /** What stands there for other accounts, which may have had the same keys. */
  readonly beside?: readonly string[];
  /** Undefined when not known. */
  readonly writtenAt: WrittenAt | undefined;
}

/** Milliseconds since the epoch. */
export interface WrittenAt {
  /** By the clock of who keeps it, which is nobody's of ours. */
  readonly keepers: number;
  /** By that of the process that wrote it. */
  readonly writers: number;
}

/** Where the record is kept. */
export interface UseStore {
  read(signal: AbortSignal): Promise<Stored>;
  /** Answers what stands there then; undefined when somebody else wrote since it was read or written here last. */
  write(text: string, signal: AbortSignal): Promise<Stored | undefined>;
  /** The same for each process, and unknown to who may not read what is kept there; undefined before anything is. */
  readonly secret?: string | undefined;
  /** How many characters it takes; default {@link mostText}. */
  readonly most?: number;
  /**
   * After how many milliseconds of failing like this it cannot be kept there: a right that is missing may be granted; undefined
   * where it passes by itself.
   */
  lastsMs(error: unknown): number | undefined;
}

/** A process writes its record at least about so often, another one each time: what stands unchanged for long is of one that is gone. */
export const renewalMs = 6 * 3_600_000;

/** Characters of a record, where the place that keeps it has room for more. */
export const mostText = 100_000;

/** Who keeps it dates to the second. */
const datedToMs = 1_000;

/** No longer than either clock says: one may have been set meanwhile, and what counts too long does for a minute at most. */
export function between(from: WrittenAt | undefined, to: WrittenAt | undefined): number {
  if (from === undefined || to === undefined) return 0;
  return Math.max(0, Math.min(to.keepers - from.keepers - datedToMs, to.writers - from.writers));
}
