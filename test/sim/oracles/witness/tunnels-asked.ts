import { canonical, type Fields, fieldsOf, parsed, textOf } from './json.ts';
import { kubeModelOf } from './kube-model.ts';
import { domain, type Resource, type Status, type Version } from './resource.ts';
import type { Span, Witness } from './witness.ts';

/** A tunnel is known by its name, in an agent that is known by its address. */
export interface TunnelID {
  /** As {@link agentAt} has it. */
  readonly agent: string;
  readonly name: string;
}

/** One text for all spellings of an agent's address. */
export function agentAt(url: string): string {
  const parts = URL.parse(url);
  if (parts === null) return url;
  const host = parts.hostname.replace(/\.$/, '').replace(/\.svc\.cluster\.local$/, '.svc');
  return `${host}:${parts.port || (parts.protocol === 'https:' ? '443' : '80')}`;
}

export function isSameTunnel(a: TunnelID | undefined, b: TunnelID): boolean {
  return a?.agent === b.agent && a.name === b.name;
}

/** Every tunnel that an AgentTunnel asked for by some moment of that time, wherever its Agent was said to be then. */
export function tunnelsAsked(world: Witness, resource: Resource, version: Version, span: Span): readonly TunnelID[] {
  const name = textOf(version.spec.tunnelName) ?? resource.name;
  return agentsAsked(world, resource, version, span).map((agent) => ({ agent, name }));
}

/** Wherever the Agent that a resource names was said to be in that time. */
export function agentsAsked(
  world: Witness,
  { namespace }: Resource,
  { spec }: Version,
  span: Span,
): readonly TunnelID['agent'][] {
  const name = textOf(fieldsOf(spec.agentRef).name);
  const agents = [...kubeModelOf(world).ofKind('Agent')].filter(
    (agent) => agent.namespace === namespace && agent.name === name && agent.livedIn(...span),
  );
  const addresses = agents.flatMap((agent) => agent.versions.during(...span).map((each) => addressOf(agent, each)));
  return [...new Set(addresses)];
}

/** Where requests for an Agent go. */
export function addressOf({ namespace }: Resource, { spec }: Version): string {
  const { name, port } = fieldsOf(spec.serviceRef);
  return agentAt(name === undefined ? (textOf(spec.url) ?? '') : `http://${String(name)}.${namespace}.svc:${port}`);
}

/** The tunnel that a status proves: tenants write none. */
export function tunnelShown(status: Status | undefined): TunnelID | undefined {
  const [url, name] = [textOf(status?.fields.agentURL), textOf(status?.fields.tunnelName)];
  return url === undefined || name === undefined ? undefined : { agent: agentAt(url), name };
}

/** The tunnel that a version of a resource has on record: what an operator is about to start, or has started. */
export function tunnelRecorded({ uid }: Resource, { annotations }: Version): TunnelID | undefined {
  const record = fieldsOf(parsed(annotations[`${domain}/started-tunnel`]));
  const [url, name] = [textOf(record.url), textOf(record.name)];
  return record.uid !== uid || url === undefined || name === undefined ? undefined : { agent: agentAt(url), name };
}

/** Whether a definition that was sent to an agent is the one that a spec asks for. */
export function isDefinedBy(definition: Fields, spec: Fields): boolean {
  const { name: _, ...sent } = definition;
  const { proto, addr, inspect, options } = spec;
  return canonical(sent) === canonical({ ...fieldsOf(options), proto, addr, inspect });
}

/** The fields of a spec that a tunnel shows otherwise than it asks. */
export function fieldsOtherwise(spec: Fields, proto: string, config: Fields): readonly string[] {
  const { inspect, options } = spec;
  const asked: Fields = { ...fieldsOf(options), proto: spec.proto, addr: plainAddr(spec.addr), inspect };
  const shown: Fields = { ...config, proto, addr: plainAddr(config.addr) };
  return Object.keys(asked).filter(
    (field) => asked[field] !== undefined && canonical(asked[field]) !== canonical(shown[field]),
  );
}

/** Agents may show `8080` as `localhost:8080` or `http://localhost:8080`. */
function plainAddr(addr: unknown): string {
  const bare = String(addr).replace(/^(?:http|tcp|tls):\/\//, '');
  return /^\d+$/.test(bare) ? `localhost:${bare}` : bare;
}
