import { describe, expect, test } from '@jest/globals';
import { winnerOver } from '../../../reconcile/ownership/ownership.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { recordOf, wanted } from '../agent-tunnel/started.ts';
import { agentIdentity, claimOn, claimsOf, hasMade, isElsewhere, standingOnTunnel } from './ownership.ts';

const url = 'http://agent.test:4040';
const tunnel = { agent: agentIdentity(url), name: 'web' };

interface Given {
  readonly namespace?: string;
  readonly age?: number;
  /** The status names this tunnel. */
  readonly made?: { readonly agentURL: string; readonly tunnelName: string };
  readonly record?: { readonly url: string; readonly name: string };
}

function resource(name: string, { namespace = 'team', age = 1, made, record }: Given = {}): ManagedObject {
  const uid = `uid of ${name}`;
  const spec = { agentRef: { name: 'edge' }, proto: 'http', addr: '8080' };
  const own = { apiVersion: 'v1', kind: 'AgentTunnel', metadata: { name, uid }, spec };
  const annotations = record === undefined ? {} : recordOf(wanted(own, spec, record.name, record.url));
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'AgentTunnel',
    metadata: { name, namespace, uid, creationTimestamp: `20${40 - age}-01-01T00:00:00Z`, annotations },
    spec: {},
    ...(made === undefined ? {} : { status: made }),
  } as unknown as ManagedObject;
}

const made = { agentURL: url, tunnelName: 'web' };
const record = { url, name: 'web' };

describe('the identity of an agent', () => {
  test.each([
    ['http://agent.test:4040/', 'http://agent.test:4040'],
    ['http://agent.test:4040/api', 'http://agent.test:4040'],
    ['http://agent.test:4040//api/', 'http://agent.test:4040'],
    ['http://AGENT.test.:4040/./', 'http://agent.test:4040'],
    ['https://agent.test:4040', 'http://agent.test:4040'],
    ['http://a.team.svc.cluster.local:4040', 'http://a.team.svc:4040'],
    ['http://a.team.svc.', 'http://a.team.svc:80'],
    ['https://a.test', 'https://a.test:443/api/'],
    ['http://2130706433:4040', 'http://127.0.0.1:4040'],
  ])('%s is %s', (one, other) => expect(agentIdentity(one)).toBe(agentIdentity(other)));

  test.each([
    ['http://agent.test:4041', url],
    ['http://agent.test:4040/one', url],
    ['http://a.team.svc:4040', 'http://a.other.svc:4040'],
    ['nonsense', url],
  ])('%s is not %s', (one, other) => expect(agentIdentity(one)).not.toBe(agentIdentity(other)));
});

describe('a tunnel', () => {
  test.each<[why: string, owner: Given, other: Given]>([
    ["is its maker's, however old another is", { made }, { age: 9 }],
    ["is its maker's, whatever another writes into its record", { made }, { age: 9, record }],
    ['is whose record says so, where no status does', { record }, { age: 9 }],
    ['is the older one where both made it', { made, age: 2 }, { made, age: 1, record }],
    ['is the older one where nobody made it', { age: 2 }, {}],
    ['is not who made another', { made }, { age: 9, made: { ...made, tunnelName: 'api' } }],
    [
      'is not who made one of the name elsewhere',
      { made },
      { age: 9, made: { ...made, agentURL: 'http://b' }, record },
    ],
  ])('%s', (_, owner, other) => {
    const [a, b] = [resource('a', owner), resource('b', { namespace: 'x', ...other })];
    expect(winnerOver(b, [a, b], standingOnTunnel(tunnel))).toBe(a);
    expect(winnerOver(a, [b, a, b], standingOnTunnel(tunnel))).toBeUndefined();
    expect(isElsewhere(a, b)).toBe(true);
  });

  test('is found under what is shown and what is recorded of it', () => {
    expect(claimsOf(resource('a'))).toEqual([]);
    expect(claimsOf(resource('a', { made }))).toEqual([claimOn(tunnel)]);
    expect(claimsOf(resource('a', { made, record: { url, name: 'api' } }))).toContain(
      claimOn({ ...tunnel, name: 'api' }),
    );
  });

  test('is not proved by a record, nor claimed by one that was copied', () => {
    const copied = resource('a', { record });
    expect(hasMade(copied, tunnel)).toBe(false);
    const { annotations } = copied.metadata;
    expect(
      claimsOf({ ...resource('b'), metadata: { ...resource('b').metadata, annotations: annotations ?? {} } }),
    ).toEqual([]);
    expect(annotations).toHaveProperty([annotation.startedTunnel]);
  });
});
