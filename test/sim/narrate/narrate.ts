import type { Flight } from '../core/network.ts';
import { Ids, short } from './ids.ts';
import { type Raw, rawOf, type Step, stepOf } from './raw.ts';
import { phraseOf } from './requests.ts';

export interface Told {
  /** Lines of the trace. */
  readonly lines: readonly string[];
  /** The requests that a service answered, by their number. */
  readonly flights: ReadonlyMap<number, Flight>;
}

/** One thing that a person is told of. */
interface Entry {
  readonly raw: Raw;
  readonly step: Step | undefined;
}

/** What happened in order, in words; watches, Leases and what went as usual in the log are left out. */
export function narrate({ lines, flights }: Told): readonly string[] {
  const ids = new Ids(flights.values());
  const entries = visible(lines.map(rawOf).map((raw) => ({ raw, step: stepOf(raw.what) })));
  const requests = requestsIn(entries);
  const told = new Set<number>();
  return entries.flatMap(({ raw, step }, at) => {
    if (step === undefined) return [lineOf(raw, sentence(raw, ids))];
    const request = requests.get(step.id);
    if (request === undefined || told.has(at)) return [];
    const flight = flights.get(step.id);
    if (step.step === 'sent') {
      const what = phraseOf(askedIn(step, raw, flight), ids);
      if (request.end !== undefined && nothingBetween(entries, request, told)) {
        told.add(request.end);
        if (request.acted !== undefined) told.add(request.acted);
        return [lineOf(raw, `${what} -> ${resultOf(entries[request.end], flight)}`)];
      }
      return [lineOf(raw, what.startsWith('notes ') ? what : `${what} (#${step.id})`)];
    }
    if (step.step === 'acted')
      return request.end === undefined ? [lineOf(raw, `does #${step.id}: ${statusIn(step)}`)] : [];
    return [lineOf(raw, `hears of #${step.id}: ${resultOf(entries[at], flight)}`)];
  });
}

/** Where its steps stand. */
interface Request {
  readonly sent: number;
  acted?: number;
  end?: number;
}

function requestsIn(entries: readonly Entry[]): ReadonlyMap<number, Request> {
  const requests = new Map<number, Request>();
  for (const [at, { step }] of entries.entries()) {
    if (step === undefined) continue;
    const request = requests.get(step.id);
    if (step.step === 'sent') requests.set(step.id, { sent: at });
    else if (request !== undefined && step.step === 'acted') request.acted = at;
    else if (request !== undefined) request.end = at;
  }
  return requests;
}

function nothingBetween(
  entries: readonly Entry[],
  { sent, acted, end = sent }: Request,
  told: ReadonlySet<number>,
): boolean {
  for (let at = sent + 1; at < end; at += 1) {
    if (at === acted || told.has(at) || entries[at]?.step?.step === 'acted') continue;
    return false;
  }
  return true;
}

const watchOrLease = /[?&]watch=|\/leases(\/|\?| |$)/;

function visible(entries: readonly Entry[]): readonly Entry[] {
  const [hidden, events] = [new Set<number>(), new Set<number>()];
  for (const { step } of entries) {
    if (step?.step !== 'sent') continue;
    if (watchOrLease.test(step.rest)) hidden.add(step.id);
    if (/\/events /.test(step.rest)) events.add(step.id);
  }
  return entries.filter(({ raw, step }) => {
    if (step === undefined) return !isUsual(raw);
    return !hidden.has(step.id) && !(events.has(step.id) && wentWell(step));
  });
}

const wentWell = ({ step, rest }: Step): boolean => (step === 'acted' || step === 'answered') && rest.startsWith('2');

/** What the requests say better. */
function isUsual({ what }: Raw): boolean {
  return /^(info|debug): /.test(what);
}

function askedIn({ rest }: Step, { what }: Raw, flight: Flight | undefined) {
  const [, service = ''] = /^-> (\S+) /.exec(what) ?? [];
  const [, method = '', path = '', body] = /^(\S+) (\S+)(?: (.*))?$/s.exec(rest) ?? [];
  return { service, method, path, body: flight?.body ?? body, answer: flight?.answer?.body };
}

function sentence({ who, what }: Raw, ids: Ids): string {
  if (who === 'person') return personal(what, ids);
  const [, start, settings] = /^(starts) (\{.*)$/.exec(what) ?? [];
  if (start !== undefined) return `starts with ${settingsOf(settings ?? '{}')}`;
  return who === 'VIOLATION' ? ids.named(what) : short(what).replace(/"reconcileID":"[^"]*",?/, '');
}

function personal(what: string, ids: Ids): string {
  const [, service = '', method = '', path = '', body, status = '', answer] =
    /^(\S+) (\S+) (\S+) (.*?) ?\b(\d{3})( .*)?$/s.exec(what) ?? [];
  if (method === '') return what;
  const asked = { service, method, path, body: body === '' ? undefined : body, answer: answer?.trim() };
  return `${phraseOf(asked, ids)}${Number(status) < 400 ? '' : ` -> ${status}`}`;
}

const usual = new Set(['kubeconfig', 'metricsAddr', 'healthAddr', 'leaderElectNamespace', 'mirrorNamespace']);

function settingsOf(text: string): string {
  const settings = Object.entries(JSON.parse(text) as Record<string, string>).filter(([name]) => !usual.has(name));
  return settings.map(([name, value]) => `${name}=${value}`).join(' ');
}

function resultOf(entry: Entry | undefined, flight: Flight | undefined): string {
  if (entry?.step === undefined) return 'nothing';
  const done = flight?.answer?.status;
  if (entry.step.step === 'failed')
    return `${entry.step.rest}${done === undefined ? '' : `, though it was done: ${done}`}`;
  const status = statusIn(entry.step);
  return done === undefined || String(done) === status ? status : `${status} instead of ${done}`;
}

const statusIn = ({ rest }: Step): string => rest.slice(0, 3);

function lineOf({ time, who }: Raw, what: string): string {
  const mark = who === 'VIOLATION' ? '!!' : '  ';
  return `${mark} ${time}  ${who.replace(/\.\d+$/, '').padEnd(10)} ${what}`;
}
