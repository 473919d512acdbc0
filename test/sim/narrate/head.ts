import type { Outcome } from '../core/run.ts';
import { type Act, defaultCalmMs, defaultSettleMs, type InstallationSpec, type Story } from '../core/story.ts';
import { virtualTime } from '../core/trace.ts';

/** A story and what came of it, before what happened. */
export function headOf(story: Story, { violations, hash, virtualMs, realMs, traceLines }: Outcome): readonly string[] {
  const { seed, installations, acts, settleMs = defaultSettleMs, calmMs = defaultCalmMs } = story;
  const troubles = acts.filter((act) => act.do === 'trouble');
  const people = acts.filter((act) => act.do !== 'trouble');
  return [
    row('seed', `${seed}, hash ${hash}`),
    row('operators', installations.map(installationOf).join('; ')),
    row('acts', `${people.length} until ${virtualTime(Math.max(0, ...people.map(({ at }) => at)))}: ${tally(people)}`),
    ...troubles.map((act) => row('trouble', troubleOf(act))),
    row('watched', `${durationOf(settleMs)} to come to rest, then ${durationOf(calmMs)} of calm`),
    row('took', `${virtualTime(virtualMs)} of virtual time in ${realMs.toFixed(0)} ms, ${traceLines} lines`),
    ...(violations.length === 0 ? [row('wrong', 'nothing')] : []),
    ...violations.map(({ oracle, at, message }) => row('wrong', `${oracle} at ${virtualTime(at)}: ${message}`)),
  ];
}

const row = (what: string, text: string): string => `${what.padEnd(10)} ${text}`;

function installationOf({ name, replicas = 1, apiKey, settings }: InstallationSpec): string {
  const more = [
    ...(replicas === 1 ? [] : [`${replicas} replicas`]),
    ...(apiKey === undefined ? [] : [apiKey === null ? 'no key' : `key ${apiKey}`]),
    ...Object.entries(settings ?? {}).map(([setting, value]) => `${setting}=${value}`),
  ];
  return more.length === 0 ? name : `${name} (${more.join(', ')})`;
}

function tally(acts: readonly Act[]): string {
  const counts = new Map<string, number>();
  for (const act of acts) counts.set(act.do, (counts.get(act.do) ?? 0) + 1);
  return [...counts].map(([what, n]) => `${n} ${what}`).join(', ');
}

function troubleOf(act: Act): string {
  if (act.do !== 'trouble') return '';
  const options = act.with === undefined ? '' : ` ${JSON.stringify(act.with)}`;
  return `${act.name} from ${virtualTime(act.at)} for ${durationOf(act.forMs)}${options}`;
}

function durationOf(ms: number): string {
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;
}
