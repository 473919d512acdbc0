import { defaultResyncMs, durationOf } from '../../core/duration.ts';
import type { Beginning } from '../../core/world.ts';
import { perWorld, second, type Witness } from './witness.ts';

/** How a process of an installation is set up. */
export interface Setup {
  readonly from: number;
  readonly process: string;
  /** It went on: only its key is another. */
  readonly rotated: boolean;
  /** Undefined: it has no default account. */
  readonly apiKey: string | undefined;
  readonly apiURL: string | undefined;
  readonly requestsPerMinute: number;
  readonly resyncMs: number;
  /** 0: no mirror. */
  readonly mirrorMs: number;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly elects: boolean;
  readonly shards: number;
  /** Without a scheme, https. */
  readonly allowedOrigins: readonly string[];
}

/** A process that was told to stop may go on so long with what it was set up with. */
const graceMs = 32 * second;

/** One installation of the operator, over time. */
export class InstallationHistory {
  readonly name: string;
  readonly #world: Witness;
  readonly #setups: Setup[] = [];
  #read = 0;

  constructor(name: string, world: Witness) {
    this.name = name;
    this.#world = world;
  }

  /** The last one started; undefined where none ever was. */
  at(now: number): Setup | undefined {
    return this.#all().findLast(({ from }) => from <= now);
  }

  /** All that its processes may have been set up with in that time. */
  during(from: number, to: number): readonly Setup[] {
    const setups = this.#all();
    const first = setups.findLastIndex((setup) => setup.from <= from - graceMs);
    return setups.slice(Math.max(0, first)).filter((setup) => setup.from <= to);
  }

  /** Whether the story wants it to run. */
  isWanted(now: number): boolean {
    const acts = this.#world.story.acts.filter(
      (act) => (act.do === 'start' || act.do === 'stop') && act.installation === this.name && act.at <= now,
    );
    return acts.toSorted((a, b) => a.at - b.at).at(-1)?.do === 'start';
  }

  /** When processes were started in that time. */
  startsIn(from: number, to: number): number {
    return this.#all().filter((setup) => !setup.rotated && setup.from >= from && setup.from <= to).length;
  }

  /** Whether its processes had another key for the default account put in force in that time, while they ran. */
  isRekeyedIn(from: number, to: number): boolean {
    return this.#all().some((setup) => setup.rotated && setup.from >= from && setup.from <= to);
  }

  /** Whether the resource is its business. */
  serves(resource: { readonly namespace: string }, now: number): boolean {
    const setup = this.at(now);
    if (setup === undefined) return false;
    return setup.namespaces.length === 0 || setup.namespaces.includes(resource.namespace);
  }

  #all(): readonly Setup[] {
    const { beginnings } = this.#world;
    for (; this.#read < beginnings.length; this.#read += 1) {
      const beginning = beginnings[this.#read];
      if (beginning?.installation === this.name) this.#setups.push(setupOf(beginning));
    }
    return this.#setups;
  }
}

/** By name, of every installation of a story. */
export const installationsOf = perWorld(
  (world) =>
    new Map(world.story.installations.map(({ name }) => [name, new InstallationHistory(name, world)] as const)),
);

/** Defaults as `run --help` gives them. */
function setupOf({ at, process, settings, apiKey, rotated = false }: Beginning): Setup {
  return {
    from: at,
    process,
    rotated,
    apiKey,
    apiURL: settings.apiUrl,
    requestsPerMinute: Number(settings.requestsPerMinute ?? 120),
    resyncMs: durationOf(settings.resyncInterval) ?? defaultResyncMs,
    mirrorMs: durationOf(settings.mirrorInterval) ?? 30 * second,
    namespaces: listOf(settings.watchNamespaces),
    elects: settings.leaderElect === 'true' || Number(settings.shards ?? 1) > 1,
    shards: Number(settings.shards ?? 1),
    allowedOrigins: listOf(settings.allowedApiHosts).map((host) => (host.includes('://') ? host : `https://${host}`)),
  };
}

function listOf(text = ''): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
