import { ApiError } from '../../../../common/http/errors.ts';
import { parseYaml } from '../../../../common/yaml.ts';
import { type Policy, policy } from './schema.ts';

/** A traffic policy that the service would refuse; the message names the path: `inbound[2].actions[0].type`. */
export class MalformedPolicyError extends ApiError {
  constructor(message: string, cause?: unknown) {
    super(message, { reason: 'Rejected', definite: true, cause });
  }
}

/**
 * The traffic policy that a text holds, as JSON or YAML, with every key that is there. Throws MalformedPolicyError.
 *
 * @param source what people call the text: "ConfigMap edge, key policy.yaml"
 */
export function parsePolicy(text: string, source: string): Policy {
  const document = parseText(text, source);
  const issue = policy.safeParse(document).error?.issues[0];
  if (issue === undefined) return document as Policy;
  const path = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const at = path === '' ? '' : `${path.replace(/^\./, '')}: `;
  throw new MalformedPolicyError(`${source} holds a malformed traffic policy: ${at}${issue.message}`);
}

/** JSON first: what is valid JSON means what JSON says. */
function parseText(text: string, source: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    if (keysIn(JSON.stringify(document)) === keysIn(text)) return document;
  } catch {
    // Perhaps YAML.
  }
  return fromYaml(text, source);
}

/** How many there are: of a key that an object has twice JSON.parse keeps the last, where YAML says at which line it is. */
function keysIn(json: string): number {
  let keys = 0;
  for (const [, colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) keys += 1;
  return keys;
}

/** 64 KiB as people write them have not many more than half as many. JSON, which is read at once, has no such bound. */
const mostTokens = 20_000;

function fromYaml(text: string, source: string): unknown {
  try {
    // What JSON cannot say (an alias to itself, a NaN) the service could not be sent.
    return JSON.parse(JSON.stringify(parseYaml(text, { mostTokens }), sayable));
  } catch (cause) {
    const [problem = ''] = (cause as Error).message.split('\n');
    throw new MalformedPolicyError(`${source} holds neither JSON nor YAML: ${problem}`, cause);
  }
}

/** JSON would make null of such numbers, and what YAML 1.2 reads as a key means a merge to whoever writes it. */
function sayable(key: string, value: unknown): unknown {
  if (key === '<<') throw new Error('merge keys (<<) are not taken');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} is no number of JSON`);
  return value;
}
