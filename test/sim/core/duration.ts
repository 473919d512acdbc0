const [second, minute, hour] = [1_000, 60_000, 3_600_000];

const units: Readonly<Record<string, number>> = { ms: 1, s: second, m: minute, h: hour };

/** In milliseconds, of a flag like `90s`; undefined where it is no duration. */
export function durationOf(text: string | undefined): number | undefined {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text ?? '') ?? [];
  return number === undefined ? undefined : Number(number) * (units[unit] ?? 1);
}

/** Defaults of `--resync-interval` and `--create-settle`, as `run --help` gives them. */
export const [defaultResyncMs, defaultCreateSettleMs] = [10 * minute, minute];
