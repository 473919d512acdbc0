import { type Ids, short } from './ids.ts';
import { type KubeTarget, nameOfTarget, targetOf } from './kube-path.ts';

/** A request, as the trace or the network knows it. */
export interface Asked {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** Of the answer, where there was one. */
  readonly answer: string | undefined;
}

const longestBody = 160;

/** What is asked for, in words: `creates ReservedAddr team-a/x`. */
export function phraseOf(asked: Asked, ids: Ids): string {
  const target = asked.service === 'kube' ? targetOf(asked.path) : undefined;
  return target === undefined ? cloudPhrase(asked, ids) : kubePhrase(asked, target, ids);
}

function kubePhrase({ method, body }: Asked, target: KubeTarget, ids: Ids): string {
  const written = objectOf(body);
  if (target.kind === 'events') return `notes ${eventOf(written)}`;
  const name = nameOfTarget(target.name === undefined ? { ...target, name: nameIn(written) } : target);
  if (method === 'GET') return target.name === undefined ? `lists ${name}` : `reads ${name}`;
  if (method === 'DELETE') return `deletes ${name}`;
  const content = contentOf(written, (text) => ids.named(text, name));
  if (method === 'POST') return `creates ${name}${content}`;
  if (target.subresource === 'status') return `writes the status of ${name}: ${statusOf(written, ids, name)}`;
  return `${method === 'PUT' ? 'replaces' : 'changes'} ${name}:${content}`;
}

function cloudPhrase({ service, method, path, body, answer }: Asked, ids: Ids): string {
  const [plain = ''] = path.split('?');
  const [, collection = '', id, ...rest] = plain.split('/');
  const sent = body === undefined ? '' : ` ${shortened(ids.named(body))}`;
  const what = `${collection.replaceAll('_', ' ')}${id === undefined ? '' : ` ${ids.named([id, ...rest].join('/'))}`}`;
  if (method !== 'POST' || id !== undefined) return `${verbs[method] ?? method} ${what} of ${service}${sent}`;
  const made = String(objectOf(answer).id ?? '');
  const owner = ids.nameOf(made);
  return `creates ${owner ?? `one of ${what}`} at ${service}${made === '' ? '' : ` as ${short(made)}`}${sent}`;
}

const verbs: Readonly<Record<string, string>> = { GET: 'reads', PUT: 'sets', PATCH: 'updates', DELETE: 'deletes' };

type Fields = Readonly<Record<string, unknown>>;

function statusOf({ status }: Fields, ids: Ids, about: string): string {
  const { conditions = [], id } = (status ?? {}) as { conditions?: readonly Fields[]; id?: unknown };
  const said = conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
  return [...said, ...(typeof id !== 'string' ? [] : [`id ${ids.named(id, about)}`])].join(', ') || '(no condition)';
}

function contentOf(written: Fields, named: (text: string) => string): string {
  const parts = partsOf(written)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([field, value]) => `${field} ${shortened(named(plain(value)))}`);
  return parts.length === 0 ? '' : ` ${parts.join(', ')}`;
}

/** Of a JSON patch what it adds; else what people look at. */
function partsOf(written: Fields): readonly (readonly [string, unknown])[] {
  if (Array.isArray(written)) return written.map(({ path, value }) => [String(path).slice(1), value] as const);
  const { metadata, spec, data, stringData } = written as Record<string, Fields | undefined>;
  const { finalizers, annotations, labels } = (metadata ?? {}) as Record<string, unknown>;
  return Object.entries({ finalizers, annotations, labels, spec, data, stringData });
}

/** Without quotes in quotes, and without the name of our group. */
function plain(value: unknown): string {
  return JSON.stringify(value).replaceAll('edge-operator.dev/', '').replaceAll('\\"', "'");
}

function eventOf({ reason, note, regarding }: Fields): string {
  const { kind, namespace, name } = (regarding ?? {}) as Fields;
  return `${reason} on ${kind} ${namespace}/${name}: ${short(String(note ?? ''))}`;
}

function nameIn({ metadata }: Fields): string | undefined {
  const { name } = (metadata ?? {}) as Fields;
  return name === undefined ? undefined : String(name);
}

/** Of a body that the trace cut short nothing is known. */
function objectOf(body: string | undefined): Fields {
  try {
    const value: unknown = JSON.parse(body ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

function shortened(text: string): string {
  return text.length > longestBody ? `${text.slice(0, longestBody)}...` : text;
}
