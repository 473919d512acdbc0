import type { Tunnel } from '../../../agent-client/schemas.ts';
import { canonical, fingerprint } from '../../../reconcile/json.ts';
import { type Look, type Shown, type Started, shownOf } from './started.ts';

export type TunnelAction =
  | { readonly kind: 'none' | 'start' | 'adopt' }
  /** Names of the spec fields that changed. */
  | { readonly kind: 'replace'; readonly fields: readonly string[] }
  /** Another's tunnel has the name; the field that differs. */
  | { readonly kind: 'conflict'; readonly field: string };

export interface TunnelSituation {
  readonly wanted: Started;
  readonly options: Readonly<Record<string, unknown>>;
  /** What this resource started under that name in that agent, if anything. */
  readonly started: Started | undefined;
  /** What runs there under that name. */
  readonly running: Tunnel | undefined;
}

/** What to do about the difference between the tunnel that is asked for and the one that runs. Pure. */
export function decide({ wanted, options, started, running }: TunnelSituation): TunnelAction {
  if (running === undefined) return { kind: 'start' };
  if (started === undefined || !isOf(running, started)) return whenForeign(running, wanted, options);
  // Which of them runs an agent does not show.
  const isUnsure = started.before !== undefined;
  const fields = (['proto', 'addr', 'inspect', 'options'] as const).filter((field) => started[field] !== wanted[field]);
  return fields.length === 0 && !isUnsure ? { kind: 'none' } : { kind: 'replace', fields };
}

/** A tunnel never changes: one that looks otherwise than what was started is another's. */
export function isOf(running: Tunnel, started: Started): boolean {
  const shown = shownOf(running);
  const isSame = ({ look, inspect }: Look) => look === lookOf(shown) && (inspect ?? shown.inspect) === shown.inspect;
  return differingField(shown, started.shown ?? started) === undefined || started.before?.some(isSame) === true;
}

/** So many, of edits while no answer comes. */
const mostBefore = 8;

/** With what was asked for before under that name: a start without an answer may yet be carried out. */
export function following(tunnel: Started, before: Started | undefined): Started {
  if (before === undefined || before.url !== tunnel.url || before.name !== tunnel.name) return tunnel;
  const { before: earlier = [], ...definition } = before;
  const unlike = { shown: undefined, generation: undefined };
  const isSame = canonical({ ...definition, ...unlike }) === canonical({ ...tunnel, ...unlike });
  const all = isSame ? earlier : [{ look: lookOf(before), inspect: before.inspect }, ...earlier];
  return all.length === 0 ? tunnel : { ...tunnel, before: all.slice(0, mostBefore) };
}

function lookOf({ proto, addr }: Pick<Shown, 'proto' | 'addr'>): string {
  return fingerprint([proto, address(addr)]);
}

/** Another's tunnel is adopted when nothing that the agent shows of it is otherwise than asked, and else left alone. */
function whenForeign(running: Tunnel, wanted: Started, options: TunnelSituation['options']): TunnelAction {
  const { config } = running;
  const option = Object.keys(options).find(
    (key) => key in config && canonical(config[key]) !== canonical(options[key]),
  );
  const field = differingField(shownOf(running), wanted) ?? option;
  return field === undefined ? { kind: 'adopt' } : { kind: 'conflict', field };
}

/** What was not asked for may be anything. */
export function differingField(shown: Shown, asked: Shown): 'proto' | 'addr' | 'inspect' | undefined {
  if (shown.proto !== asked.proto) return 'proto';
  if (address(shown.addr) !== address(asked.addr)) return 'addr';
  return asked.inspect === undefined || shown.inspect === asked.inspect ? undefined : 'inspect';
}

/** Agents show `8080` as `localhost:8080` or `http://localhost:8080` too. */
function address(addr: string): string {
  const bare = addr.replace(/^(http|tcp|tls):\/\//, '');
  return /^\d+$/.test(bare) ? `localhost:${bare}` : bare;
}
