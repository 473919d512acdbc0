import type { Log } from '../../../src/common/log.ts';
import type { Runtime } from '../../../src/common/runtime.ts';
import { runOperator } from '../../../src/operator/operator.ts';
import { parseSettings } from '../../../src/operator/settings.ts';
import { SimProcess } from './process.ts';
import { type InstallationSpec, mainKey } from './story.ts';
import { agentNames, originOf } from './surroundings.ts';
import { kubeOrigin, type World } from './world.ts';

/** As a kubelet: a container that ended is started again. */
const restartMs = 1_000;
/** As a kubelet after SIGTERM. */
const graceMs = 30_000;

const keyFile = 'api-key';

interface Replica {
  readonly index: number;
  process: SimProcess | undefined;
  stop: AbortController;
  /** Counts starts, for names that no two processes share. */
  starts: number;
  /** Of the last start. */
  settings: Readonly<Record<string, string>>;
  /** What the file with its API key holds; undefined: there is no such file. */
  apiKey: string | undefined;
  /** How far the clock of its machine is off, whichever process runs there. */
  skewMs: number;
}

export interface Changed {
  readonly settings?: Readonly<Record<string, string>> | undefined;
  readonly apiKey?: string | null | undefined;
}

/** The replicas of one operator, each started again when it ends. */
export class Installation {
  readonly spec: InstallationSpec;
  readonly #world: World;
  readonly #replicas: readonly Replica[];
  #changed: Changed = {};
  /** Of several the last counts. */
  readonly #overrides = new Set<Changed>();
  #wanted = false;
  #ended = false;

  constructor(spec: InstallationSpec, world: World) {
    this.spec = spec;
    this.#world = world;
    this.#replicas = Array.from({ length: spec.replicas ?? 1 }, (_, index) => ({
      index,
      process: undefined,
      stop: new AbortController(),
      starts: 0,
      settings: {},
      apiKey: undefined,
      skewMs: 0,
    }));
  }

  /** Those that live. */
  get processes(): readonly SimProcess[] {
    return this.#replicas.flatMap(({ process }) => (process?.alive ? [process] : []));
  }

  /** Starts every replica; those that run are ended first, in an orderly way. */
  start(changed: Changed = {}): void {
    this.#changed = changed;
    this.#wanted = true;
    for (const replica of this.#replicas) {
      if (replica.process === undefined) this.#boot(replica);
      else this.#terminate(replica);
    }
  }

  stop(): void {
    this.#wanted = false;
    for (const replica of this.#replicas) if (replica.process !== undefined) this.#terminate(replica);
  }

  /** Those that run are ended in an orderly way, and started again as they were. */
  restart(): void {
    if (this.#wanted) this.start(this.#changed);
  }

  /** Restarted with something else, whatever a story says meanwhile, until the function that it returns is called. */
  override(changed: Changed): () => void {
    this.#overrides.add(changed);
    this.restart();
    return () => {
      if (this.#overrides.delete(changed)) this.restart();
    };
  }

  /** As a Secret that is mounted: the file of those that run holds another key, until the function that it returns is called. */
  rotate(apiKey: string): () => void {
    const changed: Changed = { apiKey };
    this.#overrides.add(changed);
    this.#rewrite();
    return () => {
      if (this.#overrides.delete(changed)) this.#rewrite();
    };
  }

  /** Sets the wall clock of the machine of a replica. */
  setClock(index: number, skewMs: number): void {
    const replica = this.#replicas[index];
    if (replica === undefined) return;
    this.#world.trace.add(`${this.spec.name}-${index}`, `has its clock set to ${skewMs} ms off`);
    replica.skewMs = skewMs;
    if (replica.process !== undefined) replica.process.skewMs = skewMs;
  }

  kill(index = 0): void {
    const process = this.#replicas[index]?.process;
    if (process === undefined) return;
    this.#world.trace.add(process.name, 'is killed');
    process.kill();
    this.crashed(process);
  }

  freeze(index: number, forMs: number): void {
    const process = this.#replicas[index]?.process;
    if (process === undefined) return;
    this.#world.trace.add(process.name, `freezes for ${forMs} ms`);
    process.freeze();
    this.#world.scheduler.after(forMs, () => process.thaw());
  }

  /** A process of the world died; if it is one of these, another takes its place. */
  crashed(process: SimProcess): void {
    const replica = this.#replicas.find((each) => each.process === process);
    if (replica === undefined) return;
    this.#world.network.forget(process);
    replica.process = undefined;
    this.#restartLater(replica);
  }

  /** For good. */
  end(): void {
    this.#ended = true;
    for (const { process } of this.#replicas) process?.kill();
  }

  #restartLater(replica: Replica): void {
    this.#world.scheduler.after(restartMs, () => {
      if (this.#wanted && replica.process === undefined) this.#boot(replica);
    });
  }

  #terminate(replica: Replica): void {
    const { process, stop } = replica;
    if (process === undefined) return;
    this.#world.trace.add(process.name, 'is told to stop');
    process.run(() => stop.abort());
    this.#world.scheduler.after(graceMs, () => {
      if (!process.alive || replica.process !== process) return;
      process.kill();
      this.crashed(process);
    });
  }

  #rewrite(): void {
    const { beginnings, scheduler, trace } = this.#world;
    const { apiKey } = this.#settings();
    for (const replica of this.#replicas) {
      const { process } = replica;
      // Of one that began without a file nothing changes.
      if (!process?.alive || replica.apiKey === undefined || apiKey === undefined || replica.apiKey === apiKey)
        continue;
      replica.apiKey = apiKey;
      trace.add(process.name, 'finds another key in its file');
      beginnings.push({
        at: scheduler.now,
        installation: this.spec.name,
        process: process.name,
        // Until it is restarted, whatever the next one is to be like.
        settings: replica.settings,
        apiKey,
        rotated: true,
      });
    }
  }

  #boot(replica: Replica): void {
    if (this.#ended) return;
    const { scheduler, chance, network, trace, beginnings } = this.#world;
    const name = `${this.spec.name}-${replica.index}.${replica.starts}`;
    replica.starts += 1;
    const process = new SimProcess(name, scheduler, chance.of(name));
    process.skewMs = replica.skewMs;
    replica.process = process;
    replica.stop = new AbortController();
    const { apiKey, settings } = this.#settings();
    replica.settings = settings;
    replica.apiKey = apiKey;
    trace.add(name, `starts ${JSON.stringify(settings)}`);
    beginnings.push({ at: scheduler.now, installation: this.spec.name, process: name, settings, apiKey });
    const runtime: Runtime = {
      clock: process.clock,
      monotonic: process.monotonic,
      random: process.random,
      uuid: process.uuid,
      hostname: `${this.spec.name}-${replica.index}`,
      dispatcher: network.dispatcherOf(process),
      readFile: async (path) => this.#file(path, replica),
      env: () => undefined,
    };
    const file = apiKey === undefined ? {} : { apiKeyFile: keyFile };
    const options = {
      settings: parseSettings({ ...settings, ...file }),
      apiKey: undefined,
      log: this.#log(process),
      runtime,
    };
    runOperator(options, replica.stop.signal).then(
      () => this.#exited(replica, process),
      (error: unknown) => this.#exited(replica, process, error),
    );
  }

  #exited(replica: Replica, process: SimProcess, error?: unknown): void {
    if (!process.alive) return;
    const { trace, endings, scheduler } = this.#world;
    trace.add(process.name, error === undefined ? 'ends' : `ends with ${String(error)}`);
    const asked = replica.process === process && replica.stop.signal.aborted;
    endings.push({ at: scheduler.now, process: process.name, asked, ...(error === undefined ? {} : { error }) });
    process.kill();
    this.#world.network.forget(process);
    if (replica.process !== process) return;
    replica.process = undefined;
    this.#restartLater(replica);
  }

  /** Of its own: two releases are never in one. */
  get namespace(): string {
    return `edge-operator-${this.spec.name}`;
  }

  #settings() {
    const several = (this.spec.replicas ?? 1) > 1;
    const layers = [this.spec, this.#changed, ...this.#overrides];
    const apiKey = layers.findLast((layer) => layer.apiKey !== undefined)?.apiKey;
    return {
      apiKey: apiKey === undefined ? mainKey : (apiKey ?? undefined),
      settings: {
        kubeconfig: 'kubeconfig',
        apiUrl: 'http://cloud.sim',
        metricsAddr: '0',
        healthAddr: '0',
        allowedAgentHosts: agentNames.map((name) => new URL(originOf(name)).host).join(','),
        mirrorInterval: '0',
        mirrorNamespace: this.namespace,
        leaderElectNamespace: this.namespace,
        ...(several ? { leaderElect: 'true' } : {}),
        ...Object.assign({}, ...layers.map(({ settings }) => settings)),
      },
    };
  }

  #file(path: string, { apiKey }: Replica): string {
    if (path === keyFile && apiKey !== undefined) return apiKey;
    if (path !== 'kubeconfig') throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
    return JSON.stringify({
      clusters: [{ name: 'sim', cluster: { server: kubeOrigin } }],
      users: [{ name: 'sim', user: { token: this.#world.kube.token } }],
      contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'sim', namespace: this.namespace } }],
      'current-context': 'sim',
    });
  }

  #log(process: SimProcess, fields: Readonly<Record<string, unknown>> = {}): Log {
    const { logs, trace, scheduler } = this.#world;
    const line =
      (level: string) =>
      (message: string, more: Readonly<Record<string, unknown>> = {}) => {
        if (!process.alive) return;
        const all = { ...fields, ...more };
        logs.push({ at: scheduler.now, process: process.name, level, message, fields: all });
        trace.add(process.name, `${level}: ${message} ${JSON.stringify(all, withoutFrames)}`);
      };
    return {
      debug: () => {},
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      child: (more) => this.#log(process, { ...fields, ...more }),
    };
  }
}

/** Where in the code an error was made is no part of what happened: a line moves, and a folder is another. */
function withoutFrames(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.split('\n    at ')[0] : value;
}
