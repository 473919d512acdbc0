import { dated, type Listener } from '../../common/dated.ts';
import { type ServerRuntime, systemRuntime } from '../../common/runtime.ts';
import { answer } from './api.ts';
import { builtinTypes } from './builtin/types.ts';
import { Lifecycle } from './controllers/lifecycle.ts';
import { Exchange } from './exchange.ts';
import { Objects } from './objects/objects.ts';
import { Batches } from './reads/batches.ts';
import { EventLines } from './reads/event-lines.ts';
import { soonOf } from './reads/soon.ts';
import { CelValidator } from './schema/cel.ts';
import { seed } from './seed.ts';
import type { DataFile } from './store/data-file.ts';
import { type Snapshot, Store } from './store/store.ts';
import { Registry } from './types/registry.ts';

export interface KubeApiCoreOptions {
  /** What clients must present; when absent a random one, which is kept where objects are. */
  readonly token?: string | undefined;
  /** Where objects are kept; in memory only when absent. */
  readonly data?: DataFile | undefined;
  /** CustomResourceDefinitions that are established before the server answers. */
  readonly crds?: readonly object[] | undefined;
  /** Default that of the system. */
  readonly runtime?: ServerRuntime | undefined;
  /** How many writes a watch can be behind before it is told 410; default 10,000. */
  readonly historyLimit?: number | undefined;
  /** Time between two bookmarks of a watch; default one minute. */
  readonly bookmarkMs?: number | undefined;
}

/** A Kubernetes API that listens nowhere: whoever has it hands it requests. */
export interface KubeApiCore {
  readonly listener: Listener;
  readonly token: string;
  readonly store: Store;
  readonly objects: Objects;
  readonly registry: Registry;
  /** All objects as they are now. */
  snapshot(): Snapshot;
  /** Goes back to a snapshot and serves its definitions; see {@link Store.restore}. */
  restore(snapshot: Snapshot, bump?: number): void;
  /** Forgets the history: a watch or list from before now is told 410. */
  compact(): void;
  /** Ends every open watch. */
  close(): void;
}

/** Throws ApiError when a CRD is invalid, and DataError when what is kept cannot be read or written. */
export function createKubeApi(options: KubeApiCoreOptions = {}): KubeApiCore {
  const { data, runtime = systemRuntime, historyLimit = 10_000, bookmarkMs = 60_000 } = options;
  const { clock, monotonic } = runtime;
  const store = new Store({ historyLimit, persistence: data });
  const registry = new Registry(builtinTypes);
  const objects = new Objects(store, runtime, { cel: new CelValidator(), patterns: new Map() });
  const lifecycle = new Lifecycle(store, registry, objects, runtime);
  const stopLifecycle = lifecycle.start();
  let token: string;
  try {
    seed(objects, registry, options.crds ?? []);
    lifecycle.settle();
    token = options.token ?? tokenOf(runtime, data);
  } catch (error) {
    stopLifecycle();
    throw error;
  }
  store.forget();
  const [lines, batches] = [new EventLines(), new Batches(monotonic, soonOf(runtime))];
  const context = { store, registry, objects, clock, monotonic, token, bookmarkMs, lines, batches };
  return {
    listener: dated(clock, (request, response) => void answer(new Exchange(request, response), context)),
    token,
    store,
    objects,
    registry,
    snapshot: () => store.snapshot(),
    restore: (snapshot, bump) => {
      store.restore(snapshot, bump);
      lifecycle.restart();
    },
    compact: () => store.forget(),
    close: () => {
      stopLifecycle();
      store.endWatches();
      batches.close();
    },
  };
}

function tokenOf({ uuid }: ServerRuntime, data: DataFile | undefined): string {
  const make = () => uuid().replaceAll('-', '');
  return data?.setting('token', make) ?? make();
}
