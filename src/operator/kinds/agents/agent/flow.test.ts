import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../../common/http/errors.ts';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { RefusedError, type Report } from '../../../reconcile/status/outcome.ts';
import type { AgentConnection } from '../registry/agent-connection.ts';
import type { Agents } from '../registry/agents.ts';
import { saidIn } from '../registry/words.ts';
import { AgentFlow } from './flow.ts';

const object = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Agent',
  metadata: { name: 'edge', namespace: 'team', uid: 'u' },
  spec: { url: 'http://agent' },
} as unknown as ManagedObject;

async function reportOf(check: () => Promise<unknown>): Promise<Report> {
  const connection = { url: 'http://agent', check, retryInMs: () => 500 } as unknown as AgentConnection;
  const agents = { entry: () => ({ connection }) } as unknown as Agents;
  const context = contextOf(object, {
    writer: { record: async () => object },
    connection: { key: 'team/edge', client: undefined },
  });
  return (await new AgentFlow({ agents, dependents: {} as never }).ensure(context)) as Report;
}

describe('what an agent says of itself', () => {
  const long = 'x'.repeat(3_000_000);
  const leg = { region: long, latency: `a\n${long}` };
  const answer = (status: string) => ({
    status: saidIn({ status, agent_version: long, session: { legs: Array(50_000).fill(leg) }, uri: long }),
    tunnels: 1,
  });

  test.each(['online', long])('is shown in part, however long it is', async (status) => {
    const { message, fields } = await reportOf(async () => answer(status));
    expect(message.length).toBeLessThan(400);
    expect(JSON.stringify(fields).length).toBeLessThan(10_000);
    expect(fields?.legs).toHaveLength(16);
    expect(fields).toMatchObject({ agentVersion: `${'x'.repeat(255)}…` });
  });
});

describe('an agent that is not asked', () => {
  test('because it is away is tried again when its pause is over', async () => {
    const away = new ApiError('away', { reason: 'Unreachable', definite: true });
    expect(await reportOf(() => Promise.reject(away))).toMatchObject({ retry: { kind: 'after', ms: 500 } });
  });

  test('because no request may go there is not tried again at once', async () => {
    const refused = await reportOf(() => Promise.reject(new RefusedError('not there')));
    expect(refused).toMatchObject({ reason: 'Rejected', message: 'not there', retry: { kind: 'after', ms: 600_000 } });
  });
});
