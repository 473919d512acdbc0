/** What happens to a request that a fault was set for. */
export type Effect =
  /** Only late. */
  | { readonly kind: 'none' }
  /** Answered with this status instead of being worked on. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string; readonly body?: string }
  /** Worked on and committed; then the connection closes without an answer. */
  | { readonly kind: 'drop' }
  /** The connection is reset before any work. */
  | { readonly kind: 'reset' }
  /** Not worked on and never answered. */
  | { readonly kind: 'hang' }
  /** Answered with status 200 and a page of HTML, as a captive proxy does, without any work. */
  | { readonly kind: 'html' }
  /** Worked on; one field of the answer has the wrong type: the named one, else the first. */
  | { readonly kind: 'malformed'; readonly field?: string };

export interface Fault {
  /** As it was written. */
  readonly spec: string;
  /** undefined is any. */
  readonly method: string | undefined;
  readonly path: RegExp;
  /** How many matching requests pass before it begins. */
  readonly skip: number;
  /** How many requests it strikes, Infinity when it stays. */
  readonly count: number;
  /** In (0, 1]. */
  readonly probability: number;
  readonly latencyMs: number;
  readonly effect: Effect;
}

/** A fault that is written wrong; the message is one line that says what is. */
export class FaultSpecError extends Error {
  override readonly name = 'FaultSpecError';
  constructor(spec: string, why: string) {
    super(`fault "${spec}": ${why}`);
  }
}

type Values = ReadonlyMap<string, string>;

const effects = ['status', 'drop', 'reset', 'hang', 'html', 'malformed'] as const;
const wordsWithoutValue = new Set(['drop', 'reset', 'hang', 'html']);
const keys = new Set([...effects, 'latency', 'retry-after', 'body', 'count', 'skip', 'probability']);
const methods = /^(\*|GET|HEAD|POST|PUT|PATCH|DELETE)$/;

/**
 * Reads `<METHOD|*> <path> <what>...`, for example `POST /reserved_addrs latency=500ms count=3`. In the path `*` is
 * any one segment and `**` any rest. Values that hold blanks stand in single or double quotes.
 *
 * @throws FaultSpecError
 */
export function parseFault(spec: string): Fault {
  const fail = (why: string): never => {
    throw new FaultSpecError(spec, why);
  };
  const [method, path, ...words] = split(spec) ?? fail('a quote is not closed');
  if (method === undefined || !methods.test(method)) return fail('begin with GET, HEAD, POST, PUT, PATCH, DELETE or *');
  if (path === undefined || !/^(\/|\*\*$)/.test(path))
    return fail('after the method comes a path, such as /bot_users/*');
  if (path.includes('?')) return fail('a path has no query: it is for requests with any');
  const values = readWords(words, fail);
  return {
    spec,
    method: method === '*' ? undefined : method,
    path: pathPattern(path),
    skip: number(values, 'skip', /^\d+$/, fail) ?? 0,
    count: number(values, 'count', /^[1-9]\d*$/, fail) ?? Number.POSITIVE_INFINITY,
    probability: number(values, 'probability', /^(0?\.\d*[1-9]\d*|1(\.0+)?)$/, fail) ?? 1,
    latencyMs: latency(values, fail),
    effect: readEffect(values, fail),
  };
}

type Fail = (why: string) => never;

/** undefined when a quote is left open. */
function split(spec: string): string[] | undefined {
  const word = /\s*((?:[^\s'"]|'[^']*'|"[^"]*")+)\s*/y;
  const found: string[] = [];
  while (word.lastIndex < spec.length) {
    const match = word.exec(spec)?.[1];
    if (match === undefined) return spec.trim() === '' ? found : undefined;
    found.push(match);
  }
  return found;
}

function readWords(words: readonly string[], fail: Fail): Values {
  const values = new Map<string, string>();
  for (const word of words) {
    const [, key = '', equals, value = ''] = /^([^=]*)(=?)(.*)$/s.exec(word) ?? [];
    if (!keys.has(key)) fail(`"${word}" is none of ${[...keys].join(', ')}`);
    if (values.has(key)) fail(`${key} is given twice`);
    if (wordsWithoutValue.has(key) && equals !== '') fail(`${key} takes no value`);
    if (!wordsWithoutValue.has(key) && key !== 'malformed' && equals === '') fail(`${key} needs a value: ${key}=…`);
    values.set(
      key,
      value.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double),
    );
  }
  return values;
}

function readEffect(values: Values, fail: Fail): Effect {
  const [kind, other] = effects.filter((name) => values.has(name));
  if (other !== undefined) return fail(`${kind} and ${other} exclude each other`);
  if (kind !== 'status' && (values.has('retry-after') || values.has('body'))) {
    return fail('retry-after and body belong to status=…');
  }
  if (kind === undefined) {
    return values.has('latency') ? { kind: 'none' } : fail(`say what happens: latency, ${effects.join(', ')}`);
  }
  if (kind === 'status') return statusEffect(values, fail);
  if (kind !== 'malformed') return { kind };
  const field = values.get('malformed');
  return field ? { kind, field } : { kind };
}

function statusEffect(values: Values, fail: Fail): Effect {
  const status = number(values, 'status', /^[2-5]\d\d$/, fail) ?? 500;
  const retryAfter = values.get('retry-after');
  if (retryAfter !== undefined && !/^[\x20-\x7e]+$/.test(retryAfter))
    fail('retry-after is one line of ASCII characters');
  const body = values.get('body');
  return {
    kind: 'status',
    status,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(body === undefined ? {} : { body }),
  };
}

function number(values: Values, key: string, grammar: RegExp, fail: Fail): number | undefined {
  const value = values.get(key);
  if (value === undefined) return undefined;
  return grammar.test(value) ? Number(value) : fail(`${key}=${value} is out of range`);
}

function latency(values: Values, fail: Fail): number {
  const value = values.get('latency');
  if (value === undefined) return 0;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(value) ?? [];
  return amount === undefined ? fail('latency is written 500ms or 2s') : Number(amount) * (unit === 's' ? 1_000 : 1);
}

function pathPattern(path: string): RegExp {
  const escaped = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*\*|\*/g, (stars) => (stars === '**' ? '.*' : '[^/]+'))}$`);
}
