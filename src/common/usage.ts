/** A flag, variable or file that cannot be used as given: printed as one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** As Go reads booleans: `true`, `false`, `T`, `f`, `1`, `0`; undefined when it is none of these. */
export function parseSwitch(text: string): boolean | undefined {
  if (/^(true|t|1)$/i.test(text)) return true;
  return /^(false|f|0)$/i.test(text) ? false : undefined;
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `500ms`, `30s`, `5m`, `1h` (decimals allowed), or a bare `0`: milliseconds; undefined when it is none of these. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const [, amount, unit] = match ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * unitMs[unit as keyof typeof unitMs]);
}
