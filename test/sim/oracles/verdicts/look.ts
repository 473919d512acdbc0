import { type Access, accountNameOf, accountsOf } from '../witness/accounts.ts';
import { cloudModelOf, type Thing } from '../witness/cloud-model.ts';
import { different } from '../witness/expectation.ts';
import { impliedModules, impliedObject } from '../witness/implied.ts';
import type { InstallationHistory } from '../witness/installations.ts';
import { type Fields, fieldsOf, parsed, textOf } from '../witness/json.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import type { Resource } from '../witness/resource.ts';
import { second, type Witness } from '../witness/witness.ts';

/** Something in the cloud that is not as a resource says. */
export interface Fault {
  readonly what: string;
  /** The object or module; undefined where there never was one. */
  readonly thing: Thing | undefined;
}

/** Those that have to do with the resource now. */
export function servants(world: Witness, resource: Resource): readonly InstallationHistory[] {
  const { now } = world.scheduler;
  return [...accountsOf(world).installations.values()].filter(
    (installation) => installation.isWanted(now) && installation.serves(resource, now),
  );
}

/** How long it may take from one check of it to the next. */
export function resyncMsOf(world: Witness, resource: Resource): number {
  const seconds = resource.version.spec.resyncIntervalSeconds;
  if (typeof seconds === 'number') return seconds * second;
  return servants(world, resource)[0]?.at(world.scheduler.now)?.resyncMs ?? 0;
}

/** What is not as a resource that is Ready says; of several installations that serve it, as the best of them sees it. */
export function faultsOf(world: Witness, resource: Resource): readonly Fault[] {
  if (isOfAgents(resource)) return [];
  const all = servants(world, resource).map((installation) => {
    const access = accountsOf(world).now(installation, resource);
    return access === undefined ? [fault(unusable(resource))] : faultsThere(world, resource, access);
  });
  return all.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

/** Their connections are not the cloud's. */
export const isOfAgents = ({ kind }: Resource): boolean => ['Agent', 'AgentTunnel', 'RequestReplay'].includes(kind);

function unusable(resource: Resource): string {
  const name = resource.kind === 'CloudAccount' ? resource.name : accountNameOf(resource.version);
  return name === undefined ? 'there is no default account' : `CloudAccount ${name} cannot be used`;
}

function faultsThere(world: Witness, resource: Resource, access: Access): readonly Fault[] {
  if (access.account === undefined) return [fault(`${access.service} does not know the key that is used`)];
  const { kind, version } = resource;
  const object = impliedObject(kind, version.spec);
  if (object !== undefined) return objectFaults(world, resource, access);
  const { now } = world.scheduler;
  const read = (of: 'Secret' | 'ConfigMap', name: string, key: string) =>
    kubeModelOf(world).valuesOf(of, resource.namespace, name, key, now, now);
  return impliedModules(kind, version.spec, read).flatMap(({ part, path, content }) => {
    const thing = cloudModelOf(world).thing(access.account as `${string}/${string}`, path);
    if (thing?.content === undefined) return [fault(`${path} is not set`, thing)];
    const fields = different(thing.content, content);
    const outputs = wrongOutputs(part, partStatus(resource, part), thing.content);
    return [
      ...(fields.length === 0 ? [] : [fault(`${path} differs in ${fields.join(', ')}`, thing)]),
      ...outputs.map((what) => fault(`status of ${part}: ${what}`, thing)),
    ];
  });
}

function objectFaults(world: Witness, resource: Resource, { account }: Access): readonly Fault[] {
  const implied = impliedObject(resource.kind, resource.version.spec);
  const status = resource.status?.fields ?? {};
  const id = textOf(status.id);
  if (id === undefined) return [fault('its status has no id')];
  const thing = cloudModelOf(world).thing(account as `${string}/${string}`, id);
  if (thing?.content === undefined || implied === undefined) return [fault(`${id} is not in ${account}`, thing)];
  const fields = different(thing.content, implied.content);
  return [
    ...(fields.length === 0 ? [] : [fault(`${id} differs in ${fields.join(', ')}`, thing)]),
    ...wrongStatus(resource.kind, status, thing.content).map((field) => fault(`status.${field} is not true`, thing)),
  ];
}

function fault(what: string, thing?: Thing): Fault {
  return { what, thing };
}

/** Output fields of the status that the service shows otherwise. */
function wrongStatus(kind: string, status: Fields, content: Fields): readonly string[] {
  const expected = kind === 'ReservedAddr' ? addrStatus(content) : {};
  const all: Fields = { uri: content.uri, createdAt: content.created_at, ...expected };
  return Object.entries(all)
    .filter(([field, value]) => JSON.stringify(status[field]) !== JSON.stringify(value))
    .map(([field]) => field);
}

function addrStatus({ addr, region, endpoint_configuration }: Fields): Fields {
  const [, host, port] = /^(.+):(\d+)$/.exec(String(addr)) ?? [];
  const { id, uri } = fieldsOf(endpoint_configuration);
  return {
    ...{ addr, region, host, port: port === undefined ? undefined : Number(port) },
    endpointConfiguration: id === undefined ? undefined : { id, uri },
  };
}

/** The traffic policy is the whole of its kind. */
function partStatus({ status }: Resource, part: string): Fields {
  const fields = status?.fields ?? {};
  return part === 'trafficPolicy' ? { ...fields, applied: true } : fieldsOf(fields[part]);
}

const samlOutputs: Readonly<Record<string, string>> = {
  entityID: 'entity_id',
  assertionConsumerServiceURL: 'assertion_consumer_service_url',
  singleLogoutURL: 'single_logout_url',
  requestSigningCertificatePEM: 'request_signing_certificate_pem',
  metadataURL: 'metadata_url',
  idpMetadataURL: 'idp_metadata_url',
};

function wrongOutputs(part: string, status: Fields, content: Fields): readonly string[] {
  const applied = status.applied === true ? [] : ['it is not applied'];
  if (part === 'tlsTermination' && status.terminateAt !== content.terminate_at) return [...applied, 'terminateAt'];
  if (part === 'trafficPolicy' && status.ruleCount !== rulesIn(content)) return [...applied, 'ruleCount'];
  if (part !== 'saml') return applied;
  return [
    ...applied,
    ...Object.entries(samlOutputs).flatMap(([to, from]) => (status[to] === content[from] ? [] : [to])),
  ];
}

function rulesIn({ value }: Fields): number | undefined {
  const { inbound } = fieldsOf(parsed(textOf(value)));
  return Array.isArray(inbound) ? inbound.length : undefined;
}

/** The last change was not made when it was asked for, but by a person, another operator, or long after it was sent. */
export function isDrift({ edits }: Thing, installations: readonly InstallationHistory[]): boolean {
  const last = edits.at(-1);
  if (last === undefined) return false;
  return last.at - last.sentAt > second || !installations.some(({ name }) => name === last.installation);
}

/** What it uses now, by each installation that serves it. */
export function accessesOf(world: Witness, resource: Resource) {
  return servants(world, resource).flatMap((each) => accountsOf(world).now(each, resource) ?? []);
}
