import type { Runtime } from '../../common/runtime.ts';
import { definition } from '../kinds/cloud/bot-user/schema.ts';
import type { KubeClient } from '../kube/client.ts';
import { conditionOf, type ManagedObject } from '../reconcile/resource/resource.ts';
import type { Check, Finding, Looked } from './check.ts';

const { type } = definition;
const pollMs = 500;

export interface SampleOptions extends Pick<Runtime, 'monotonic' | 'uuid'> {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Name of a CloudAccount; default the operator's account. */
  readonly account: string | undefined;
  readonly timeoutMs: number;
  /** Ends the waiting: the sample is deleted then, too. */
  readonly signal: AbortSignal;
}

/** Makes a bot user that may not act, waits until it is Ready, and deletes it again, whatever becomes of the waiting. */
export function sampleCheck(options: SampleOptions): Check {
  return { name: 'sample', run: () => new Sample(options).run() };
}

class Sample {
  readonly #options: SampleOptions;
  readonly #ref: { readonly namespace: string; readonly name: string };

  constructor(options: SampleOptions) {
    this.#options = options;
    this.#ref = { namespace: options.namespace, name: `edge-operator-sample-${options.uuid().slice(0, 8)}` };
  }

  async run(): Promise<Looked> {
    const { client, account, signal } = this.#options;
    const accountRef = account === undefined ? {} : { accountRef: { name: account } };
    const spec = { name: this.#ref.name, active: false, ...accountRef };
    const apiVersion = `${type.group}/${type.version}`;
    await client.create(type, { apiVersion, kind: type.kind, metadata: this.#ref, spec } as ManagedObject);
    const [made] = await Promise.allSettled([this.#until(isReady)]);
    try {
      await client.delete(type, this.#ref);
    } catch (error) {
      return this.#leftBehind(error);
    }
    if (made.status === 'rejected') throw made.reason;
    const last = await this.#until(() => false);
    if (signal.aborted) return stoppedBefore(`${this.#what} ${last === undefined ? 'was' : 'is being'} deleted`);
    return { at: this.#what, findings: [...this.#unready(made.value), ...(last ? [this.#finding(last)] : [])] };
  }

  get #what(): string {
    return `${type.kind} ${this.#ref.namespace}/${this.#ref.name}`;
  }

  /** The object when it is so, or as it was last; undefined when it is not there any more. */
  async #until(isSo: (object: ManagedObject) => boolean): Promise<ManagedObject | undefined> {
    const { client, monotonic, timeoutMs, signal } = this.#options;
    const startedAt = monotonic.now();
    for (;;) {
      const object = await client.get<ManagedObject>(type, this.#ref);
      if (object === undefined || isSo(object)) return object;
      if (signal.aborted || monotonic.now() - startedAt > timeoutMs) return object;
      await monotonic.sleep(pollMs, signal).catch(() => {});
    }
  }

  /** @param made the sample as it was last, before it was to be deleted */
  #unready(made: ManagedObject | undefined): readonly Finding[] {
    if (made !== undefined) return isReady(made) ? [] : [this.#finding(made)];
    const { namespace } = this.#ref;
    const problem = `${this.#what} vanished before it was Ready: somebody else deleted it`;
    return [{ problem, cure: `have whoever cleans up in ${namespace} leave samples alone, and look again` }];
  }

  /** Whatever came of the waiting: it is for a person to delete now. */
  #leftBehind(error: unknown): Looked {
    const { namespace, name } = this.#ref;
    const why = error instanceof Error ? error.message : String(error);
    return {
      findings: [],
      failed: `${this.#what} is left behind: ${why}`,
      cure: `kubectl -n ${namespace} delete ${definition.singular} ${name}`,
    };
  }

  #finding(object: ManagedObject): Finding {
    const ready = conditionOf(object, 'Ready');
    const said = ready === undefined ? 'no condition yet: no operator saw it' : `${ready.reason}: ${ready.message}`;
    const { namespace, name } = this.#ref;
    const isLeft = object.metadata.deletionTimestamp !== undefined;
    return {
      problem: `${this.#what} is ${isLeft ? 'not gone' : 'not Ready'}: ${said}`,
      cure: isLeft
        ? `kubectl -n ${namespace} describe ${definition.singular} ${name}`
        : this.#cureOfOneThatWent(ready?.reason),
    };
  }

  /** It is deleted by the time that somebody reads this; its events stay for a while. */
  #cureOfOneThatWent(reason: string | undefined): string {
    const { namespace, name } = this.#ref;
    if (reason === undefined) return `see whether an operator acts, and watches ${namespace}: doctor without --sample`;
    const events = `kubectl -n ${namespace} get events --field-selector involvedObject.name=${name}`;
    return `do what docs/conditions.md says about ${reason}; what happened: ${events}`;
  }
}

function isReady(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}

function stoppedBefore(end: string): Looked {
  return { findings: [], failed: `stopped before it was found out; ${end}`, cure: 'let it end; --timeout says when' };
}
