import type { CloudClient } from '../../../cloud/client.ts';
import type { TrafficPolicy, TrafficPolicyReplace } from '../../../cloud/schemas.ts';
import type { Part, ReadReference } from '../../../reconcile/parts/part.ts';
import { excessOfDocument } from '../../../reconcile/resource/bounds.ts';
import { canonical, fingerprint } from '../../../reconcile/resource/json.ts';
import { parsePolicy } from './policy.ts';
import type { Policy, Spec, Status } from './schema.ts';

/** The whole of its kind: Ready is its condition. */
export const trafficPolicy: Part<Spec, CloudClient, TrafficPolicyReplace, TrafficPolicy> = {
  name: 'trafficPolicy',
  condition: undefined,
  displayName: 'traffic policy',
  desired: async (spec, read) => ({ enabled: spec.enabled, value: JSON.stringify(await policyOf(spec, read)) }),
  diff,
  status: toStatus,
  get: (cloud, { edgeID }, call) => cloud.tlsEdges.trafficPolicy.get(edgeID, call),
  replace: (cloud, { edgeID }, body, call) => cloud.tlsEdges.trafficPolicy.replace(edgeID, body, call),
  delete: (cloud, { edgeID }, call) => cloud.tlsEdges.trafficPolicy.delete(edgeID, call),
};

async function policyOf({ policy, policyFrom }: Spec, read: ReadReference): Promise<Policy | undefined> {
  if (policyFrom === undefined) return policy;
  const { name, key } = policyFrom.configMapKeyRef;
  return parsePolicy(await read({ kind: 'ConfigMap', name, key }), `ConfigMap ${name}, key ${key},`);
}

function diff(body: TrafficPolicyReplace, found: TrafficPolicy): readonly string[] {
  const rewritten = canonical(parsed(body.value ?? '')) !== canonical(parsed(found.value));
  return [...(body.enabled === found.enabled ? [] : ['enabled']), ...(rewritten ? ['policy'] : [])];
}

function toStatus({ value }: TrafficPolicy): Pick<Status, 'appliedPolicyHash' | 'ruleCount'> {
  const policy = parsed(value);
  const inbound = typeof policy === 'object' && policy !== null && 'inbound' in policy ? policy.inbound : undefined;
  return { appliedPolicyHash: fingerprint(policy), ...(Array.isArray(inbound) ? { ruleCount: inbound.length } : {}) };
}

/** What someone else put there need not be JSON, or not of our bounds: then it is the text that it is. */
function parsed(value: string): unknown {
  try {
    const document: unknown = JSON.parse(value);
    return excessOfDocument(document) === undefined ? document : value;
  } catch {
    return value;
  }
}
