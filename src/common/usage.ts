/** A flag, variable or file that cannot be used as given: printed as one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `500ms`, `30s`, `5m`, `1h` (decimals allowed), or a bare `0`: milliseconds; undefined when it is none of these. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const [, amount, unit] = match ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * unitMs[unit as keyof typeof unitMs]);
}

const label = '[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?';
const key = `(?:[a-z0-9.-]{1,253}/)?${label}`;
const value = `\\s*(?:${label})?\\s*`;
const comparison = `\\s*(?:==?|!=)${value}|\\s*[<>]\\s*-?\\d+|\\s+(?:not)?in\\s*\\(${value}(?:,${value})*\\)`;
const requirement = new RegExp(`^(?:!\\s*${key}|${key}(?:${comparison})?)$`);

/** As `kubectl get -l` takes it: `app=shop,tier!=test`, `tier in (a,b),!old`. */
export function isLabelSelector(text: string): boolean {
  return text.split(/,(?![^(]*\))/).every((part) => requirement.test(part.trim()));
}
