import type { Poll } from './polled-metrics.ts';

/** One request to the cloud, as its client reports it. */
export interface RequestSample {
  readonly operation: string;
  readonly status: number | undefined;
  readonly outcome: string;
  /** The service refused the key, and not only what was asked for with it. */
  readonly keyRefused?: boolean;
  readonly ms: number;
  readonly waitedMs: number;
  readonly priority: string;
}

/** The state of one account's limiter, and of its key. */
export interface BudgetState {
  readonly used: number;
  readonly limit: number;
  readonly waiting: Readonly<Record<string, number>>;
  readonly pausedUntilMs?: number;
  /** Nothing is sent with it, so that no request tells. */
  readonly isKeyUnusable?: boolean;
}

/** What the client and the limiter of one account tell. */
export interface AccountMetrics {
  onRequest(sample: Pick<RequestSample, 'status' | 'outcome' | 'keyRefused'>): void;
  /** Shows the account until the result is called. */
  show(budget: () => BudgetState): () => void;
}

/** A 403 to anything but a list is about one resource: the account itself is usable. */
export const accountStates = ['usable', 'unauthorized', 'unreachable'] as const;
type AccountState = (typeof accountStates)[number];

/** @param isHeld whether this replica has the account: of others it knows what was, not what is */
export function accountMetrics(poll: Poll, account: string, isHeld = () => true): AccountMetrics {
  const labels = { account };
  let state: AccountState | undefined;
  let rateLimited = 0;
  return {
    onRequest: (sample) => {
      state = stateAfter(sample);
      if (sample.outcome === 'RateLimited') rateLimited += 1;
    },
    show: (budget) => {
      const stops = [
        poll('accountState', () => {
          const shown = budget().isKeyUnusable ? 'unauthorized' : state;
          return shown === undefined || !isHeld() ? [] : stateSet(account, shown);
        }),
        poll('rateLimited', () => [{ labels, value: rateLimited }]),
        poll('rateLimitUsed', () => [{ labels, value: budget().used }]),
        poll('rateLimit', () => [{ labels, value: budget().limit }]),
        poll('rateLimitPaused', () => [{ labels, value: budget().pausedUntilMs === undefined ? 0 : 1 }]),
        poll('rateLimitWaiting', () =>
          Object.entries(budget().waiting).map(([priority, value]) => ({ labels: { account, priority }, value })),
        ),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

function stateAfter({ outcome, keyRefused }: Pick<RequestSample, 'outcome' | 'keyRefused'>): AccountState {
  if (outcome === 'Unreachable') return 'unreachable';
  return keyRefused === true ? 'unauthorized' : 'usable';
}

function stateSet(account: string, current: AccountState) {
  return accountStates.map((state) => ({ labels: { account, state }, value: state === current ? 1 : 0 }));
}
