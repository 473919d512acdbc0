import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import type { Lab } from './lab.ts';

/** How those who watch a resource must read it. */
interface Readings {
  /** By kstatus: Flux, and whatever else waits for objects. */
  readonly kstatus: 'InProgress' | 'Current' | 'Failed' | 'Terminating';
  /** By the health check of deploy/argocd. */
  readonly argo: 'Progressing' | 'Healthy' | 'Degraded' | 'Suspended';
}

const waiting: Readings = { kstatus: 'InProgress', argo: 'Progressing' };
const done: Readings = { kstatus: 'Current', argo: 'Healthy' };
/** Only a person can help. */
const stuck: Readings = { kstatus: 'Failed', argo: 'Degraded' };
const going: Readings = { kstatus: 'Terminating', argo: 'Progressing' };

/** Every state that a resource can be in, and how it must be read. Each has a lab of its own. */
export const states = {
  /** No operator has seen it. */
  new: waiting,
  /** The call that makes it is under way. */
  creating: waiting,
  /** A create went unanswered: what it may have made is looked for. */
  'looking-up': waiting,
  ready: done,
  /** The spec changed; the call that carries the change out is under way. */
  updating: waiting,
  /** Became ready, then the spec changed to what is refused. */
  rejected: stuck,
  unauthorized: stuck,
  unreachable: waiting,
  'rate-limited': waiting,
  'dependency-not-ready': waiting,
  conflict: stuck,
  /** The cloud answered 409. */
  busy: waiting,
  'ambiguous-create': stuck,
  'external-not-found': stuck,
  /** A replay of which nobody knows whether it ran. */
  'outcome-unknown': stuck,
  /** Under managementPolicy Observe. */
  drift: stuck,
  paused: { kstatus: 'Failed', argo: 'Suspended' },
  deleting: going,
  /** Deleting, and only a person can help. */
  'deleting-stalled': going,
} as const satisfies Readonly<Record<string, Readings>>;

export type State = keyof typeof states;

/** Brings a resource into a state, and gives it as it is then. */
export type Drive = (lab: Lab) => Promise<ManagedObject>;

/** A kind, and how it comes into each state, or why it never does. */
export interface KindStates {
  readonly kind: string;
  readonly drives: Readonly<Record<State, Drive | string>>;
}

/** How the kind comes into the state; undefined where it never does. */
export function driveOf({ drives }: KindStates, state: State): Drive | undefined {
  const drive = drives[state];
  return typeof drive === 'string' ? undefined : drive;
}

/** The same reason for states that a kind never comes into. */
export function never<S extends State>(reason: string, ...of: readonly S[]): Readonly<Record<S, string>> {
  return Object.fromEntries(of.map((state) => [state, reason])) as Record<S, string>;
}
