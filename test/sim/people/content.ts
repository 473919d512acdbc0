import type { Chance } from '../core/random.ts';
import type { Act } from '../core/story.ts';
import { surroundings } from '../core/surroundings.ts';
import { apply, configMap, secret } from './acts.ts';
import { type CastResource, cloudKinds, secretOf } from './scene.ts';
import { refusedOf } from './specs/refused.ts';
import { isMap, type JsonMap, schemaOf } from './specs/schemas.ts';
import { textOf } from './specs/texts.ts';
import { type Known, type Taste, validValue, withImmutables } from './specs/valid.ts';

/** What decides about the content of a spec. */
export interface Role {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly account?: string;
  /** Which of the edges of the surroundings a set of modules is of. */
  readonly edge?: number;
  /** The Agent that a tunnel or a replay names. */
  readonly agent?: string;
  /** Where an Agent is. */
  readonly url?: string;
}

export function roleOf({ kind, namespace, name, account, spec }: CastResource): Role {
  const { agentRef, url } = spec;
  return {
    ...{ kind, namespace, name },
    ...(account !== undefined && { account }),
    ...(isMap(agentRef) && { agent: String(agentRef.name) }),
    ...(typeof url === 'string' && { url }),
  };
}

/** What module kinds read, in every namespace. */
const webhookSecret = 'hooks';
const documents = 'documents';

const canary = (chance: Chance): string => `CANARY-${chance.int(1_000, 999_999)}`;

const metadataXML = (chance: Chance): string =>
  `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example/${canary(chance)}"/>`;

const policyText = (chance: Chance): string => {
  const rule = { name: `from a document ${chance.int(0, 99)}`, expressions: ['true'], actions: [{ type: 'deny' }] };
  return JSON.stringify({ inbound: [rule] }, null, chance.pick([0, 2]));
};

/** The Secret and the ConfigMap that specs of a namespace refer to, each time with another content. */
export function referents(namespace: string, chance: Chance, at: number): readonly Act[] {
  const text = policyText(chance);
  return [
    apply(
      at,
      secret({ namespace, name: webhookSecret }, { a: canary(chance), b: canary(chance), saml: metadataXML(chance) }),
    ),
    apply(
      at,
      configMap(
        { namespace, name: documents },
        { saml: metadataXML(chance), 'policy.json': text, 'policy.yaml': `# as JSON\n${text}\n` },
      ),
    ),
  ];
}

export const referentNames = { Secret: webhookSecret, ConfigMap: documents } as const;

/** Of the edges that there are: `edge` counts them. */
export function parentIn(kind: string, edge = 0): JsonMap {
  const https = surroundings.httpsEdges[edge];
  if (https === undefined) throw new Error(`there is no edge ${edge}`);
  if (kind === 'HttpsRouteModules') return { edgeID: https.id, routeID: https.routes[0] ?? '' };
  if (kind === 'HttpsEdgeModules') return { edgeID: https.id };
  return { edgeID: surroundings.tlsEdges[edge] ?? '' };
}

/** Says whose an object is, in the text that the cloud shows of it; see {@link ownerIn}. */
export const ownText = ({ namespace, name }: Role, more = ''): string => `${namespace}/${name}${more && ` ${more}`}`;

/** `NAMESPACE/NAME` of the resource that a text of the cloud, a description or a name, belongs to. */
export function ownerIn(text: string): string | undefined {
  return /^([a-z0-9-]+\/[a-z0-9-]+)(?: |$)/.exec(text)?.[1];
}

/** A valid spec for the role: what the schema admits, about what there is. */
export function specFor(role: Role, chance: Chance, taste: Taste = {}): JsonMap {
  const known = knownTo(role);
  const spec = validValue(schemaOf(role.kind), { longest: 120, ...taste, known }, chance) as JsonMap;
  return { ...spec, ...(role.kind in parents ? parentIn(role.kind, role.edge) : {}) };
}

/** Another valid spec for the role, without what cannot be changed. */
export function otherSpec(role: Role, before: JsonMap, chance: Chance, taste: Taste = {}): JsonMap {
  return withImmutables(schemaOf(role.kind), specFor(role, chance, taste), before);
}

/** A spec that Kubernetes refuses. */
export function refusedSpec(role: Role, chance: Chance): JsonMap {
  const taste: Taste = { fields: 'all', longest: 120, known: knownTo(role) };
  const whole = specFor(role, chance, { fields: 'all' });
  return chance.pick(refusedOf(schemaOf(role.kind), whole, taste, chance)).spec;
}

const parents = { HttpsRouteModules: true, HttpsEdgeModules: true, TlsEdgeTrafficPolicy: true } as const;

const idsOf =
  (ids: readonly string[]): Known =>
  (chance) =>
    chance.chance(0.3) ? undefined : [...chance.some(ids)];
const oneOf =
  (...values: readonly (string | number | undefined)[]): Known =>
  (chance) =>
    values[chance.int(0, values.length - 1)];

/** Begins with whose it is. */
const textFor =
  (role: Role): Known =>
  (chance) =>
    chance.chance(0.4) ? ownText(role) : ownText(role, textOf({ minLength: 1 }, { size: 'any', longest: 400 }, chance));

function knownTo(role: Role): Readonly<Record<string, Known>> {
  const { kind, account } = role;
  return { ...(cloudKinds.includes(kind) ? managed(account) : {}), ...byKind[kind]?.(role) };
}

/** Policies change by habits alone; drift has to be found within the time of a story. */
const managed = (account: string | undefined): Readonly<Record<string, Known>> => ({
  accountRef: () => (account === undefined ? undefined : { name: account }),
  deletionPolicy: oneOf('Delete', undefined),
  managementPolicy: oneOf('Manage', undefined),
  resyncIntervalSeconds: oneOf(undefined, undefined, 30, 60, 300),
});

const byKind: Readonly<Record<string, (role: Role) => Readonly<Record<string, Known>>>> = {
  ReservedAddr: (role) => ({
    description: textFor(role),
    endpointConfigurationID: oneOf(undefined, ...surroundings.endpointConfigurations),
  }),
  BotUser: (role) => ({ name: textFor(role) }),
  HttpsRouteModules: ({ edge }) => ({
    ...parentOf('HttpsRouteModules', edge),
    'saml.idpMetadata': metadataXML,
    'saml.idpMetadataFrom': (chance) =>
      chance.pick([
        { configMapKeyRef: { name: documents, key: 'saml' } },
        { secretKeyRef: { name: webhookSecret, key: 'saml' } },
      ]),
    'ipRestriction.ipPolicyIDs': idsOf(surroundings.ipPolicies),
    'webhookVerification.provider': oneOf('github', 'stripe', 'sns', 'SNS', 'a provider of our own'),
    'webhookVerification.secretRef': (chance) => ({ name: webhookSecret, key: chance.pick(['a', 'b']) }),
  }),
  HttpsEdgeModules: ({ edge }) => ({
    ...parentOf('HttpsEdgeModules', edge),
    'mutualTLS.certificateAuthorityIDs': idsOf(surroundings.certificateAuthorities),
    'tlsTermination.minVersion': oneOf('1.2', '1.3', undefined),
  }),
  TlsEdgeTrafficPolicy: ({ edge }) => ({
    ...parentOf('TlsEdgeTrafficPolicy', edge),
    policyFrom: (chance) => ({
      configMapKeyRef: { name: documents, key: chance.pick(['policy.json', 'policy.yaml']) },
    }),
  }),
  CloudAccount: ({ name }) => ({
    apiURL: oneOf(undefined, 'http://cloud.sim'),
    apiKeySecretRef: () => ({ name: secretOf({ name }), key: 'api-key' }),
    requestsPerMinute: oneOf(undefined, 60, 120, 600),
    'endpointMirror.intervalSeconds': oneOf(undefined, 30, 300),
  }),
  Agent: ({ url }) => ({ url: () => url, serviceRef: () => undefined }),
  RequestReplay: ({ agent = '' }) => ({
    agentRef: () => ({ name: agent }),
    tunnelName: () => undefined,
    ttlSecondsAfterFinished: oneOf(undefined, undefined, 0, 5, 60),
  }),
  AgentTunnel: ({ namespace, name, agent = '' }) => ({
    agentRef: () => ({ name: agent }),
    tunnelName: oneOf(undefined, `${name} of ${namespace}`, `${namespace}/${name}?\u00e9`),
    proto: oneOf('http', 'tcp', 'tls'),
    addr: oneOf('8080', '9090', 'localhost:8080', 'app:80'),
    options: (chance) => (chance.chance(0.6) ? undefined : { metadata: `tunnel ${chance.int(0, 9)}` }),
  }),
};

function parentOf(kind: string, edge: number | undefined): Readonly<Record<string, Known>> {
  return Object.fromEntries(Object.entries(parentIn(kind, edge)).map(([field, value]) => [field, () => value]));
}
