import type { Act, Story } from '../../core/story.ts';
import { hour, minute, perWorld, second, type Witness } from './witness.ts';

/** A time in which something is not as it should be. */
export interface Disturbance {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** When whoever does all right has got over it: he may have decided to wait. */
  readonly overAt: number;
  /** What operators know of Kubernetes may be old. */
  readonly ofKubernetes: boolean;
  /** The key that alone is concerned; undefined: possibly everything. */
  readonly key: string | undefined;
}

/** Troubles after which an operator knows Kubernetes as well as before; those of the network say whom they meet. */
const notOfKubernetes =
  /^(?:gateway-|cloud-|lagging-lists|half-a-page|throttled|odd-|endless-|empty-|revoked-|wrong-|crash|restarts|clock-)/;
const ofNetwork = /^(?:lost-|late-|resets|refused-|slow-)/;

/** The longest pause between two tries, and some time for the try. */
const aftermathMs = 6 * minute;
/** Whatever waits so long was told to. */
const longAftermathMs = hour + aftermathMs;
const stopMs = 31 * second;
const startMs = 5 * second;

/** What a story does to its world besides using it. */
export class Disturbances {
  readonly all: readonly Disturbance[];

  constructor({ acts }: Pick<Story, 'acts'>) {
    this.all = acts.flatMap(disturbanceOf).toSorted((a, b) => a.from - b.from);
  }

  /** Whether anything is disturbed in that time, or not over, and of what concerns one key only, that key. */
  any(from: number, to: number, key?: string): boolean {
    return this.all.some((each) => each.from <= to && each.overAt >= from && concerns(each, key));
  }

  /**
   * The moment that somebody who acts at `now` may still go by, when he is otherwise never more than `lagMs` behind.
   *
   * @param reopenMs how long a watch that was cut may wait to be opened again
   */
  knowledge(now: number, lagMs: number, reopenMs = 0): number {
    let since = now - lagMs;
    for (const { from, to, ofKubernetes } of this.all.toReversed()) {
      if (ofKubernetes && from <= now && to + reopenMs >= since) since = Math.min(since, from - lagMs);
    }
    return since;
  }

  /** When the last of those that have begun by then is over; -Infinity when there is none. */
  lastOver(now: number): number {
    return Math.max(
      Number.NEGATIVE_INFINITY,
      ...this.all.filter(({ from }) => from <= now).map(({ overAt }) => overAt),
    );
  }
}

export const disturbancesOf = perWorld(({ story }: Witness) => new Disturbances(story));

function concerns({ key }: Disturbance, asked: string | undefined): boolean {
  return key === undefined || asked === undefined || key === asked;
}

function disturbanceOf(act: Act): readonly Disturbance[] {
  const { at: from } = act;
  // A process that is started reads everything anew.
  const process = { from, key: undefined, ofKubernetes: false };
  switch (act.do) {
    case 'trouble':
      return [troubled(act)];
    case 'freeze': {
      const to = from + act.forMs;
      return [{ ...process, name: 'freeze', to, overAt: to + minute, ofKubernetes: true }];
    }
    case 'kill':
      return [{ ...process, name: 'kill', to: from + startMs, overAt: from + minute }];
    case 'stop':
    case 'start':
      return [{ ...process, name: act.do, to: from + stopMs, overAt: from + stopMs }];
    default:
      return [];
  }
}

function troubled({ at: from, name, forMs, with: options = {} }: Extract<Act, { do: 'trouble' }>): Disturbance {
  const { to: service, key, retryAfter, downMs } = options;
  // What was restored is down for a while after that.
  const to = from + forMs + (typeof downMs === 'number' ? downMs : 0);
  const isLong = retryAfter === '3600' || retryAfter === 'date';
  return {
    ...{ name, from, to, overAt: to + (isLong ? longAftermathMs : aftermathMs) },
    ofKubernetes: isOfKubernetes(name, service),
    key: typeof key === 'string' ? key : undefined,
  };
}

function isOfKubernetes(name: string, to: unknown): boolean {
  if (ofNetwork.test(name) || to !== undefined) return to === 'kube';
  return !notOfKubernetes.test(name);
}
