/**
 * All that happens to a world from outside: what a seed makes, what shrinking takes away from, and what a regression
 * keeps. The same story gives the same trace, whatever made it.
 */
export interface Story {
  /** Of latencies, ids and the operators' own chance. */
  readonly seed: number;
  readonly installations: readonly InstallationSpec[];
  readonly cloud?: CloudSpec;
  /** What happens at which moment; of two at the same moment the first is first. */
  readonly acts: readonly Act[];
  /** Within which, after the last act and the end of the last trouble, everything has to be in order; default 30 min. */
  readonly settleMs?: number;
  /** Where nothing becomes of any resource for so long after that, all is taken to be in order before `settleMs`; default never. */
  readonly stillMs?: number;
  /** Virtual time after that in which nothing may be written any more; default 2 h. */
  readonly calmMs?: number;
  /** By `KIND/NAMESPACE/NAME`: the reason that Ready must have in the end, of resources that certainly cannot be Ready. */
  readonly expect?: Readonly<Record<string, string>>;
}

export const defaultSettleMs = 30 * 60_000;
export const defaultCalmMs = 2 * 3_600_000;

/** One installation of the operator: a Deployment. */
export interface InstallationSpec {
  readonly name: string;
  /** Default 1. */
  readonly replicas?: number;
  /** The key of the default account; null for none. Default {@link mainKey}. */
  readonly apiKey?: string | null;
  /** As flags of `run`, by their field: `{ watchNamespaces: 'a,b' }`; on top of those that suit a simulation. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface CloudSpec {
  /** `account=key`; default `main` with {@link mainKey}. Every cloud has `second` with {@link secondKey} besides. */
  readonly apiKeys?: readonly string[];
  /** Requests of an account in any rolling minute; default 120, 0 for no limit. */
  readonly rateLimit?: number;
}

/** Like every secret of a story they contain CANARY, so that a leak can be looked for. */
export const mainKey = 'main-key-CANARY-0';
export const secondKey = 'second-key-CANARY-0';

/** `account=key`: those of a story, and that of an account which no story uses unless something goes wrong. */
export function apiKeysOf({ apiKeys = [`main=${mainKey}`] }: CloudSpec = {}): readonly string[] {
  return [...new Set([...apiKeys, `second=${secondKey}`])];
}

export type Act = {
  readonly at: number;
  /** The habit that made it. */
  readonly by?: string;
} & Deed;

/** Which object of Kubernetes. */
export interface ObjectRef {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/**
 * In texts of manifests, patches and paths `{{id:KIND/NAMESPACE/NAME}}` stands for the external id that the status of
 * the resource had last, `{{made:KIND/NAMESPACE/NAME}}` for the one it had first, `{{uid:KIND/NAMESPACE/NAME}}` for its uid,
 * `{{foreign:NAME}}` for the id of what a `cloud` deed with that name made, and `{{n}}` for the number, from 0, of a deed
 * that is done several times.
 */
export type Deed =
  /** As `kubectl apply`: creates it, or replaces its spec and the annotations it names. */
  | {
      readonly do: 'apply';
      readonly object: Manifest;
      /** Default 1; all at the same moment. */
      readonly times?: number;
      /** Kubernetes is meant to refuse it. */
      readonly refused?: true;
    }
  /** A merge patch. */
  | {
      readonly do: 'patch';
      readonly ref: ObjectRef;
      readonly patch: object;
      readonly subresource?: 'status';
      readonly refused?: true;
    }
  /** As `kubectl replace`: what the manifest does not name goes, annotations, labels and finalizers too. */
  | { readonly do: 'replace'; readonly object: Manifest }
  /** Labels, annotations and content as they are now, with a merge patch on them, under another name. */
  | {
      readonly do: 'copy';
      readonly from: ObjectRef;
      readonly to: Pick<ObjectRef, 'namespace' | 'name'>;
      readonly patch?: object;
    }
  /** The annotations that it had then, of those that the operator writes: a manifest that was saved with them is applied again. */
  | { readonly do: 'set-back'; readonly ref: ObjectRef; readonly asOf: number }
  | { readonly do: 'delete'; readonly ref: ObjectRef }
  /** Somebody uses the API of the cloud by hand; `name` makes the id of what it answers known. */
  | {
      readonly do: 'cloud';
      readonly name?: string;
      readonly key?: string;
      /** Default `cloud`. */
      readonly service?: string;
      readonly method: string;
      readonly path: string;
      readonly body?: object;
      readonly times?: number;
    }
  /** SIGTERM to every replica, and no new one is started. */
  | { readonly do: 'stop'; readonly installation: string }
  /** Started, or started anew after a SIGTERM, with these settings on top of those of its spec. */
  | {
      readonly do: 'start';
      readonly installation: string;
      readonly settings?: Readonly<Record<string, string>>;
      readonly apiKey?: string | null;
    }
  /** SIGKILL to one replica; it is started again after a second. */
  | { readonly do: 'kill'; readonly installation: string; readonly replica?: number }
  /** A local agent: its process starts anew, or a request is captured that came through its tunnel. */
  | { readonly do: 'restart-agent'; readonly agent: string }
  | { readonly do: 'capture'; readonly agent: string; readonly tunnel: string; readonly name?: string }
  | { readonly do: 'freeze'; readonly installation: string; readonly replica?: number; readonly forMs: number }
  /** A perturbation of that name, for a time. */
  | {
      readonly do: 'trouble';
      readonly name: string;
      readonly forMs: number;
      readonly with?: Readonly<Record<string, unknown>>;
    };

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** When the last act is done and the last trouble over. */
export function endOf(story: Pick<Story, 'acts'>): number {
  return Math.max(0, ...story.acts.map((act) => act.at + ('forMs' in act ? act.forMs : 0)));
}
