import type { Tunnel } from '../../../agent-client/schemas.ts';
import { canonical } from '../../../reconcile/resource/json.ts';
import { differingField, looksLike, shownOf, shownOptionsOf } from './look.ts';
import type { Spec } from './schema.ts';
import { type Started, sentOptionsOf } from './started.ts';

export type TunnelAction =
  | { readonly kind: 'none' | 'start' | 'adopt' }
  /** It was started with other options, by somebody else. */
  | { readonly kind: 'correct' }
  /** Names of the spec fields that changed. */
  | { readonly kind: 'replace'; readonly fields: readonly string[] }
  /** Another's tunnel has the name; the field that differs. */
  | { readonly kind: 'conflict'; readonly field: string };

export interface TunnelSituation {
  readonly spec: Spec;
  /** What the spec asks for. */
  readonly wanted: Started;
  /** What this resource started under that name in that agent, if anything. */
  readonly started: Started | undefined;
  /** The start of that was answered. */
  readonly isAnswered: boolean;
  /** The options that the agent showed when it started that, as a fingerprint, if that is known. */
  readonly baseline?: string | undefined;
  /** What runs there under that name. */
  readonly running: Tunnel | undefined;
}

/** What to do about the difference between the tunnel that is asked for and the one that runs. Pure. */
export function decide({ spec, wanted, started, isAnswered, baseline, running }: TunnelSituation): TunnelAction {
  if (running === undefined) return { kind: 'start' };
  if (started === undefined || !isOf(running, started)) return whenForeign(running, spec);
  const { shown, before = [] } = started;
  const runs = shownOf(running);
  // Which of those that look alike it is an agent does not show.
  const isUnsure = !looksLike(runs, shown) || (!isAnswered && before.some((known) => looksLike(runs, known)));
  const fields = (['proto', 'addr', 'inspect', 'options'] as const).filter(
    (field) => started.asked[field] !== wanted.asked[field],
  );
  if (fields.length > 0 || isUnsure) return { kind: 'replace', fields };
  // What an agent adds to what is asked for is its own matter, but not to change.
  const expected = [baseline, sentOptionsOf(spec)];
  return baseline === undefined || expected.includes(shownOptionsOf(running)) ? { kind: 'none' } : { kind: 'correct' };
}

/** A tunnel never changes: one that looks otherwise than what was started is another's. */
export function isOf(running: Tunnel, { shown, before = [] }: Started): boolean {
  const runs = shownOf(running);
  return [shown, ...before].some((known) => looksLike(runs, known));
}

/** So many, of edits while no answer comes. */
const mostBefore = 8;

/** With what was asked for before under that name: a start without an answer may yet be carried out. */
export function following(tunnel: Started, before: Started | undefined): Started {
  if (before === undefined || before.url !== tunnel.url || before.name !== tunnel.name) return tunnel;
  const { before: earlier = [] } = before;
  const definition = ({ asked, shown }: Started) => canonical({ asked, shown });
  const all = definition(before) === definition(tunnel) ? earlier : [before.shown, ...earlier];
  return all.length === 0 ? tunnel : { ...tunnel, before: all.slice(0, mostBefore) };
}

/** Another's tunnel is adopted when nothing that the agent shows of it is otherwise than asked, and else left alone. */
function whenForeign(running: Tunnel, spec: Spec): TunnelAction {
  const { config } = running;
  const { options = {} } = spec;
  const option = Object.keys(options).find(
    (key) => key in config && canonical(config[key]) !== canonical(options[key]),
  );
  const field = differingField(shownOf(running), spec) ?? option;
  return field === undefined ? { kind: 'adopt' } : { kind: 'conflict', field };
}
