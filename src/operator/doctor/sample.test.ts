import { describe, expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { definitions } from '../kinds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ObjectRef, ResourceType } from '../kube/types.ts';
import type { ManagedObject } from '../reconcile/resource/resource.ts';
import { sampleCheck } from './sample.ts';

describe('a sample', () => {
  const botUsers = definitions.find(({ type }) => type.kind === 'BotUser')?.type as ResourceType;
  const waits = { ...systemRuntime, clock: { ...systemRuntime.clock, sleep: async () => {} } };
  let seen: ManagedObject[];
  /** An operator that makes it Ready, and lets it go, as it is asked to. */
  const cluster = (does: { readonly ready: boolean; readonly gone: boolean }) => {
    let stored: ManagedObject | undefined;
    seen = [];
    const Ready = { type: 'Ready', status: does.ready ? 'True' : 'False', reason: 'Rejected', message: 'not so' };
    return {
      create: async (_: ResourceType, object: ManagedObject) => {
        seen.push(object);
        stored = { ...object, status: { conditions: [Ready] } } as unknown as ManagedObject;
      },
      get: async (_: ResourceType, _ref: ObjectRef) => stored,
      delete: async () => {
        stored =
          does.gone || stored === undefined
            ? undefined
            : { ...stored, metadata: { ...stored.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
      },
    } as unknown as KubeClient;
  };
  const looked = (client: KubeClient) => {
    const options = { ...waits, client, namespace: 'team', account: 'acct', timeoutMs: 5 };
    return sampleCheck({ ...options, signal: new AbortController().signal }).run();
  };
  const run = async (client: KubeClient) => {
    return (await looked(client)).findings.map(({ problem }) => problem.replace(/-\w{8} /, ' '));
  };

  test('is a bot user that may not act, and leaves nothing behind', async () => {
    expect(await run(cluster({ ready: true, gone: true }))).toEqual([]);
    expect(seen[0]).toMatchObject({ kind: 'BotUser', spec: { active: false, accountRef: { name: 'acct' } } });
  });

  test('that is never Ready is deleted all the same, and what it says is told', async () => {
    expect(await run(cluster({ ready: false, gone: true }))).toEqual([
      'BotUser team/edge-operator-sample is not Ready: Rejected: not so',
    ]);
    const [finding] = (await looked(cluster({ ready: false, gone: true }))).findings;
    expect(finding?.cure).toMatch(
      /^do what .* says about Rejected; .*events .*involvedObject\.name=edge-operator-sample-/,
    );
  });

  test('whose looker is stopped goes all the same, and that is told', async () => {
    const client = cluster({ ready: false, gone: true });
    const stop = new AbortController();
    const options = { ...systemRuntime, client, namespace: 'team', account: undefined, timeoutMs: 60_000 };
    const looking = sampleCheck({ ...options, signal: stop.signal }).run();
    stop.abort();
    expect(await looking).toMatchObject({
      findings: [],
      failed: expect.stringMatching(/^stopped before .*; BotUser team\/edge-operator-sample-\w{8} was deleted$/),
    });
    expect(await client.get(botUsers, seen[0]?.metadata as ObjectRef)).toBeUndefined();
  });

  test('of which nothing can be found out goes all the same', async () => {
    const client = cluster({ ready: false, gone: true });
    const { get } = client;
    const broken = { ...client, get: () => Promise.reject(new Error('no answer')) } as unknown as KubeClient;
    await expect(looked(broken)).rejects.toThrow('no answer');
    expect(await get(botUsers, seen[0]?.metadata as ObjectRef)).toBeUndefined();
  });

  test('that somebody else deletes before it was Ready is none that was', async () => {
    const client = cluster({ ready: false, gone: true });
    let looks = 0;
    const get = async (kind: ResourceType, ref: ObjectRef) => {
      looks += 1;
      if (looks === 2) await client.delete(kind, ref);
      return client.get(kind, ref);
    };
    expect(await run({ ...client, get } as unknown as KubeClient)).toEqual([
      'BotUser team/edge-operator-sample vanished before it was Ready: somebody else deleted it',
    ]);
  });

  test.each([
    ['was Ready', true],
    ['could not be looked at', false],
  ])('that %s and cannot be deleted is named, with what to do', async (_, isSeen) => {
    const away = () => Promise.reject(new Error('no answer'));
    const client = cluster({ ready: true, gone: true });
    const stuck = { ...client, delete: away, ...(isSeen ? {} : { get: away }) } as unknown as KubeClient;
    const { findings, failed, cure } = await looked(stuck);
    const name = seen[0]?.metadata.name;
    expect([findings, failed]).toEqual([[], `BotUser team/${name} is left behind: no answer`]);
    expect(cure).toBe(`kubectl -n team delete botuser ${name}`);
  });

  test('that does not go is told', async () => {
    expect(await run(cluster({ ready: true, gone: false }))).toEqual([
      'BotUser team/edge-operator-sample is not gone: Rejected: not so',
    ]);
    const [finding] = (await looked(cluster({ ready: true, gone: false }))).findings;
    expect(finding?.cure).toMatch(/^kubectl -n team describe botuser edge-operator-sample-/);
  });
});
