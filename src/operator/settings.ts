import { z } from 'zod';
import { isLoopback } from '../common/http/address.ts';
import { baseURLProblem } from '../common/http/url.ts';
import { addressForm, parseAddress } from '../common/listen.ts';
import { parseDuration, parseSwitch, UsageError } from '../common/usage.ts';
import { HostRange } from './reconcile/addresses/host-range.ts';

/*
 * The settings of `edge-operator run`. Each is a flag and an environment variable, both named after
 * the field: `watchNamespaces` is `--watch-namespaces` and `EDGE_OPERATOR_WATCH_NAMESPACES`. All arrive as text.
 */

const text = z.string().min(1, 'must not be empty');

const hour = 3_600_000;
/** Shorter ones are a mistake in the unit. */
const shortestMs = 100;

const duration = (atMost: number, { orNever = false } = {}) =>
  z.string().transform((value, context) => {
    const ms = parseDuration(value);
    if (ms !== undefined && ((ms >= shortestMs && ms <= atMost) || (orNever && ms === 0))) return ms;
    const range = `must be at least ${shortestMs}ms and at most ${atMost / hour}h`;
    const problem = ms === undefined ? 'is no duration: write 500ms, 30s, 5m or 1h' : range;
    context.addIssue({ code: 'custom', message: orNever ? `${problem}, or 0 for never` : problem });
    return z.NEVER;
  });

const count = (max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .pipe(z.int().min(1, 'must be at least 1').max(max, `must be at most ${max}`));

const names = z
  .string()
  .transform((value) => [...new Set(value.split(',').map((name) => name.trim()))].filter(Boolean));

export const isNamespace = (name: string) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name);

const namespace = z.string().refine(isNamespace, 'is no name of a namespace');
/** Not empty, as what a variable of a script may come to: that would be all of them. */
const namespaces = names.refine(
  (given) => given.length > 0 && given.every(isNamespace),
  'is no list of namespaces: write their names, separated by commas, or leave it out for all',
);

const namespacesOrAll = names.transform((given, context): readonly string[] | '*' => {
  if (given.length === 1 && given[0] === '*') return '*';
  if (given.length > 0 && given.every(isNamespace)) return given;
  const form = 'write their names, separated by commas, or * for all';
  context.addIssue({ code: 'custom', message: `is no list of namespaces: ${form}` });
  return z.NEVER;
});

/** As the value of a label: it is written beside what the installation makes. Empty for none. */
const installation = z
  .string()
  .refine(
    (name) => /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(name),
    'is no name of an installation: write up to 63 letters, digits, ".", "_" and "-"',
  )
  .transform((name) => name || undefined);

/**
 * As `URL.origin` writes them: an API key goes to them, so that nothing but an entry itself makes it http, or that it never
 * leaves the machine.
 */
const origins = names.transform((given, context) => {
  const parsed = given.map(originsOf);
  if (parsed.every((each) => each.length > 0)) return parsed.flat();
  const form = 'host or host:port for https, http://host for http, separated by commas';
  context.addIssue({ code: 'custom', message: `is no list of hosts: write ${form}` });
  return z.NEVER;
});

function originsOf(entry: string): readonly string[] {
  const [, scheme, host = ''] = /^(?:(https?):\/\/)?(.*)$/.exec(entry) ?? [];
  if (/[/?#@*]/.test(host)) return [];
  const schemes = scheme === undefined && isOwnMachine(`http://${host}`) ? ['https', 'http'] : [scheme ?? 'https'];
  return schemes.flatMap((each) => URL.parse(`${each}://${host}`)?.origin ?? []);
}

function isOwnMachine(url: string): boolean {
  const { hostname = '' } = URL.parse(url) ?? {};
  return hostname === 'localhost' || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}

/**
 * As `URL.host` writes them, with every port that is given; the first label may be `*`, and an address may be that of a network,
 * with its prefix.
 */
const hosts = names.transform((given, context) => {
  const parsed = given.map(hostOf);
  const usable = parsed.filter((host) => host !== undefined);
  if (usable.length === given.length) return usable;
  const form =
    'host or host:port, separated by commas, *.domain:port for any one label before the domain, or 10.0.8.0/24:port for a network';
  context.addIssue({ code: 'custom', message: `is no list of hosts: write ${form}` });
  return z.NEVER;
});

function hostOf(entry: string): string | undefined {
  if (HostRange.parse(entry) !== undefined) return entry;
  const [, label = '', rest = ''] = /^(\*\.)?(.*)$/s.exec(entry) ?? [];
  const host = /[/?#@*]/.test(rest) ? undefined : hostAndPortOf(rest);
  // No label stands before an address.
  const isUsable = host !== undefined && (label === '' || /^[a-z][^:]*(:\d+)?$/.test(host));
  return isUsable ? label + host : undefined;
}

/** Of another scheme than the one that the port is the default of: `URL` would leave it out. */
function hostAndPortOf(text: string): string | undefined {
  const scheme = /:0*80$/.test(text) ? 'https' : 'http';
  return URL.parse(`${scheme}://${text}`)?.host;
}

const address = z.string().transform((value, context) => {
  if (value === '0') return undefined;
  const parsed = parseAddress(value);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: 'custom', message: `is no address: write ${addressForm}, or 0 for none` });
  return z.NEVER;
});

const url = z.string().transform((value, context) => {
  const problem = baseURLProblem(value);
  if (problem === undefined) return value;
  context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
});

const flag = z.union([z.boolean(), z.string()]).transform((value, context) => {
  const on = typeof value === 'string' ? parseSwitch(value) : value;
  if (on !== undefined) return on;
  context.addIssue({ code: 'custom', message: 'is neither on nor off: write true or false' });
  return z.NEVER;
});

export const runSettings = z.object({
  kubeconfig: text.optional().meta({ arg: 'file', about: 'kubeconfig; else in-cluster, else the default one' }),
  watchNamespaces: namespaces
    .default([])
    .meta({ arg: 'names', about: 'namespaces to watch, separated by commas (default: all)' }),
  apiUrl: url.optional().meta({ arg: 'url', about: 'address of the Cloud Management API' }),
  apiKeyFile: text.optional().meta({
    arg: 'file',
    about:
      "file with the default account's API key, re-read when it changes (or the key itself in EDGE_OPERATOR_API_KEY)",
  }),
  defaultAccountNamespaces: namespacesOrAll.default('*').meta({
    arg: 'names',
    about: 'namespaces whose resources may use the default account, separated by commas, or * for all',
  }),
  requestsPerMinute: count(100_000)
    .default(120)
    .meta({ arg: 'n', about: "budget of the default account's requests, and of accounts that share a key" }),
  allowedApiHosts: origins.default([]).meta({
    arg: 'hosts',
    about:
      'hosts, beside that of --api-url, that a CloudAccount may name, separated by commas: by https, or written http://host by http (default: none)',
  }),
  allowedAgentHosts: hosts.default([]).meta({
    arg: 'hosts',
    about:
      'hosts that an Agent may name as its url, separated by commas; *.domain:port for any one label, 10.0.8.0/24:port for a network (default: none)',
  }),
  mirrorNamespace: namespace.optional().meta({
    arg: 'name',
    about: "namespace of the default account's endpoint mirror (default: the operator's own)",
  }),
  mirrorInterval: duration(24 * hour, { orNever: true })
    .default(30_000)
    .meta({
      arg: 'duration',
      about: "time within which the default account's endpoints are mirrored into ConfigMaps; 0 for no mirror",
      shown: '30s',
    }),
  resyncInterval: duration(8_760 * hour)
    .default(600_000)
    .meta({
      arg: 'duration',
      about: 'time between two checks for drift',
      shown: '10m',
    }),
  createSettle: duration(hour).default(60_000).meta({
    arg: 'duration',
    about: 'longest time that the cloud may take to carry out a create whose answer was lost',
    shown: '60s',
  }),
  installation: installation
    .optional()
    .meta({ arg: 'name', about: 'what this installation is known by (default: an identity of its own)' }),
  takeOver: flag.default(false).meta({ about: 'take over what other installations hold' }),
  concurrency: count(1_000)
    .default(8)
    .meta({ arg: 'n', about: 'resources of a kind worked on at the same time; waiting for a service does not count' }),
  leaderElect: flag.optional().meta({
    about: 'act only while holding the Lease; for more than one replica (default: with more than one shard)',
  }),
  leaderElectNamespace: namespace
    .optional()
    .meta({ arg: 'name', about: "namespace of the Lease (default: the operator's own)" }),
  shards: count(64).default(1).meta({
    arg: 'n',
    about:
      'Leases that the accounts are spread over, for as many replicas as that to work at the same time; more than one is --leader-elect too',
  }),
  metricsAddr: address.prefault(':8080').meta({ arg: 'address', about: 'where /metrics is served; 0 for nowhere' }),
  healthAddr: address.prefault(':8081').meta({
    arg: 'address',
    about: 'where /healthz and /readyz are served; 0 for nowhere',
  }),
  logLevel: z.enum(['error', 'warn', 'info', 'debug'], 'must be error, warn, info or debug').default('info').meta({
    arg: 'level',
    about: 'error, warn, info or debug',
  }),
  logFormat: z
    .enum(['json', 'text'], 'must be json or text')
    .default('json')
    .meta({ arg: 'format', about: 'json or text' }),
});

export type RunSettings = z.output<typeof runSettings> & { readonly leaderElect: boolean };

/** Throws UsageError naming the flag, its variable, and what to write instead. */
export function parseSettings(options: Record<string, unknown>): RunSettings {
  const parsed = runSettings.safeParse(options);
  if (parsed.success) return { ...parsed.data, leaderElect: electsLeader(parsed.data) };
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' };
  throw wrong(String(path[0]), `${shown(options[String(path[0])])} ${message}`);
}

/** Shards are Leases: without leader election each replica would work for all accounts. */
function electsLeader({ leaderElect, shards }: z.output<typeof runSettings>): boolean {
  if (shards === 1) return leaderElect === true;
  if (leaderElect !== false) return true;
  throw wrong('shards', `${shards} shards are shared out by leader election: leave --leader-elect=false out`);
}

/** Names the flag and its variable. */
export function wrong(name: string, problem: string, options?: ErrorOptions): UsageError {
  const setting = settingsHelp().find((candidate) => candidate.name === name);
  return new UsageError(`${setting?.flag} (or ${setting?.variable}): ${problem}`, options);
}

/** Without the user, password and query of a URL, or of what was meant as one. */
function shown(value: unknown): string {
  return JSON.stringify(value)
    .replace(/^("(?:[\w+.-]*:\/\/)?).*@/, '$1***@')
    .replace(/[?#][^"]*/, '***');
}

export interface SettingHelp {
  readonly name: string;
  readonly flag: string;
  readonly variable: string;
  /** Placeholder of the value; undefined for a switch. */
  readonly arg: string | undefined;
  readonly about: string;
}

/** What `--help` and the flag parser need of each setting. */
export function settingsHelp(): readonly SettingHelp[] {
  return Object.entries(runSettings.shape).map(([name, schema]) => {
    const { arg, about, shown } = schema.meta() as { arg?: string; about: string; shown?: string };
    const fallback = shown ?? defaultText(schema);
    return {
      name,
      flag: `--${separated(name, '-')}`,
      variable: `EDGE_OPERATOR_${separated(name, '_').toUpperCase()}`,
      arg,
      about: fallback === undefined ? about : `${about} (default: ${fallback})`,
    };
  });
}

function defaultText(schema: z.ZodType): string | undefined {
  const { defaultValue } = schema.def as { defaultValue?: unknown };
  const printable = typeof defaultValue === 'string' || typeof defaultValue === 'number';
  return printable ? String(defaultValue) : undefined;
}

function separated(name: string, by: string): string {
  return name.replace(/[A-Z]/g, (letter) => `${by}${letter.toLowerCase()}`);
}
