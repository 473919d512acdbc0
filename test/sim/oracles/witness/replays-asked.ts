import type { Flight } from '../../core/network.ts';
import { disturbancesOf } from './disturbances.ts';
import { canonical, fieldsOf, parsed } from './json.ts';
import { kubeModelOf } from './kube-model.ts';
import { domain, type Resource, type Version } from './resource.ts';
import { agentAt, agentsAsked } from './tunnels-asked.ts';
import { type Span, second, type Witness } from './witness.ts';

const lagMs = 5 * second;

/** The same for two requests that ask one agent for one thing; undefined for what is no replay. */
export function replayOf({ method, path, to, body }: Flight): string | undefined {
  if (method !== 'POST' || path !== '/api/requests/http') return undefined;
  return `${agentAt(to.origin)} ${canonical(fieldsOf(parsed(body)))}`;
}

/**
 * Those for which a process may send that: they ask for it, and have on record that this process is about to, from when they
 * were not finished.
 */
export function replaysAsking(world: Witness, flight: Flight): readonly Resource[] {
  const { sentAt, from, to, body } = flight;
  const span: Span = [disturbancesOf(world).knowledge(sentAt, lagMs), sentAt];
  const asked = canonical(fieldsOf(parsed(body)));
  return [...kubeModelOf(world).ofKind('RequestReplay')].filter((resource) => {
    const { requestID, tunnelName } = resource.version.spec;
    if (!resource.livedIn(...span) || canonical({ id: requestID, tunnel_name: tunnelName }) !== asked) return false;
    return (
      isBegun(resource, from.name) && agentsAsked(world, resource, resource.version, span).includes(agentAt(to.origin))
    );
  });
}

function isBegun({ versions, statuses }: Resource, process: string): boolean {
  return versions.all.some(
    (version) =>
      version.by === process && hasIntent(version) && statuses.at(version.at)?.fields.completedAt === undefined,
  );
}

/** A person took the record of it since, and no status tells that it is finished: nothing does. */
export function isForgotten({ versions, statuses }: Resource, since: number): boolean {
  const { all } = versions;
  const wiped = all.find((version, index) => {
    const before = all[index - 1];
    return version.at > since && version.by === undefined && !hasIntent(version) && before && hasIntent(before);
  });
  if (wiped === undefined) return false;
  const known = statuses.during(wiped.at, Number.POSITIVE_INFINITY);
  return known.length === 0 || known.some(({ fields }) => fields.completedAt === undefined);
}

function hasIntent({ annotations }: Version): boolean {
  return annotations[`${domain}/replay-intent`] !== undefined;
}
