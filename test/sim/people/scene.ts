import type { CloudSpec, InstallationSpec } from '../core/story.ts';
import type { CloudAccountName } from './cloud-keys.ts';
import type { JsonMap } from './specs/schemas.ts';

/** Who and what there is in a story, and when it takes place. */
export interface Scene {
  /** Everything that people do is done by then; only order is made afterwards. */
  readonly spanMs: number;
  /** Around these much happens at once. */
  readonly moments: readonly number[];
  readonly installations: readonly InstallationSpec[];
  readonly cloud: CloudSpec;
  readonly accounts: readonly CastAccount[];
  readonly resources: readonly CastResource[];
}

/** A CloudAccount, with the Secret that holds its key. */
export interface CastAccount {
  readonly namespace: string;
  readonly name: string;
  readonly holds: CloudAccountName;
  readonly spec: JsonMap;
  readonly bornAt: number;
}

/** A custom resource. */
export interface CastResource {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The CloudAccount that it names; without one it uses the default account. */
  readonly account?: string;
  /** In whose account what it makes is. */
  readonly holds: CloudAccountName;
  readonly spec: JsonMap;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly bornAt: number;
  /** So many of it, told apart by `{{n}}` in the name and the rest; default 1. */
  readonly times?: number;
}

/** All that stories have; each but a, b and c belongs to one habit. */
export const namespaces: readonly string[] = ['a', 'b', 'c', 'crowd', 'doomed', 'forger'];

/** The one that every story has. */
export const firstInstallation = 'one';

export const secretOf = ({ name }: Pick<CastAccount, 'name'>): string => `${name}-key`;

const moduleKinds = ['HttpsRouteModules', 'HttpsEdgeModules', 'TlsEdgeTrafficPolicy'];

/** Those that the cloud backs, but for its accounts. */
export const cloudKinds: readonly string[] = ['ReservedAddr', 'BotUser', ...moduleKinds];

export const isOfCloud = ({ kind }: Pick<CastResource, 'kind'>): boolean => cloudKinds.includes(kind);

/** What waits with its own deletion for others, so that nobody takes it away under them. */
export const isNeeded = ({ kind }: Pick<CastResource, 'kind'>): boolean => kind === 'Agent';

/** Those whose external id the service assigns. */
export const isExternal = ({ kind }: Pick<CastResource, 'kind'>): boolean =>
  kind === 'ReservedAddr' || kind === 'BotUser';

/** Those that are modules of an edge or a route. */
export const isModules = ({ kind }: Pick<CastResource, 'kind'>): boolean => moduleKinds.includes(kind);

/** What there is to say of resources, by `KIND/NAMESPACE/NAME`; of those that are many, of each. */
export function byRef(
  resources: readonly CastResource[],
  say: (resource: CastResource) => string | undefined,
): Readonly<Record<string, string>> {
  const said = resources.flatMap((resource): [string, string][] => {
    const { kind, namespace, name, times = 1 } = resource;
    const text = say(resource);
    if (text === undefined) return [];
    const names = Array.from({ length: times }, (_, n) => name.replace('{{n}}', String(n)));
    return names.map((each) => [`${kind}/${namespace}/${each}`, text]);
  });
  return Object.fromEntries(said);
}
