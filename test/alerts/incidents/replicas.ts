import { setTimeout as sleep } from 'node:timers/promises';
import type { Incident } from '../incident.ts';
import { type Intercept, refusal } from '../release.ts';

const isLeaseWrite: Intercept = async ({ method, path }) =>
  path.includes('/leases') && method !== 'GET' ? refusal(403, 'Forbidden') : undefined;

export const replicas: readonly Incident[] = [
  {
    what: 'the only replica has ended',
    alert: 'EdgeOperatorAbsent',
    inShort: true,
    arrange: async (release) => {
      const operator = await release.start();
      return async () => {
        await release.end(operator);
        return () => release.start();
      };
    },
  },
  {
    what: 'the role for the Lease is gone',
    alert: 'EdgeOperatorNoLeader',
    // A leader gives up 10 s after its last renewal, whatever the rules.
    factor: 12,
    arrange: async (release) => {
      const { args } = await release.throughProxy();
      const leader = await release.start([...args, '--leader-elect']);
      await release.start([...args, '--leader-elect']);
      return async () => {
        release.intercept = isLeaseWrite;
        void leader.exited.then(() => release.forget(leader));
        return async () => {
          release.intercept = async () => undefined;
        };
      };
    },
  },
  {
    what: 'two replicas without --leader-elect',
    alert: 'EdgeOperatorManyLeaders',
    arrange: async (release) => {
      await release.start();
      return async () => {
        const second = await release.start();
        return () => release.end(second);
      };
    },
  },
  {
    what: 'the process is killed again and again',
    alert: 'EdgeOperatorRestarting',
    factor: 30,
    arrange: async (release) => {
      let operator = await release.start();
      const address = ['--metrics-addr', new URL(await operator.url('metrics')).host];
      return async () => {
        for (let restart = 0; restart < 4; restart += 1) {
          await operator.stop('SIGKILL');
          operator = await release.start(address);
          await sleep(1_500);
        }
        return async () => {};
      };
    },
  },
  {
    what: 'one of two replicas cannot list a kind',
    alert: 'EdgeOperatorReplicaNotReady',
    arrange: async (release) => {
      await release.start(['--leader-elect']);
      return async () => {
        const { args } = await release.throughProxy(async ({ path }) =>
          path.includes('/botusers') ? refusal(500, 'InternalError') : undefined,
        );
        const second = await release.start([...args, '--leader-elect']);
        return async () => {
          await release.end(second);
          await release.start(['--leader-elect']);
        };
      };
    },
  },
];
