import type { Log } from '../../common/log.ts';
import type { OddItem } from '../../common/odd-item.ts';
import type { Readable } from '../cloud/client.ts';
import type { Endpoint } from '../cloud/schemas.ts';
import { endpointJSON, endpointName } from './config-map.ts';
import { ConfigMapSet, type ConfigMapSetOptions, type ConfigMapTrouble } from './config-map-set.ts';
import { Sweeps } from './sweeps.ts';

export interface EndpointMirrorOptions extends ConfigMapSetOptions {
  readonly endpoints: Pick<Readable<Endpoint>, 'listAll' | 'get'>;
  /** Endpoints that appear, change or go are shown within this time. */
  readonly intervalMs: number;
  /** Mirror only endpoints with one of these as `proto`; all when there are none. */
  readonly protocols?: readonly string[] | undefined;
  /** As `protocols`, of `type`. */
  readonly types?: readonly string[] | undefined;
}

export interface MirrorStatus {
  /** A sweep has finished whole, and the ConfigMaps are what it says. */
  readonly synced: boolean;
  /** Endpoints that are mirrored. */
  readonly endpoints: number;
  /** ConfigMaps still to be written or deleted, those that cannot be included. */
  readonly pending: number;
  /** When the last sweep that finished whole began, in milliseconds since the epoch. */
  readonly sweptAt: number | undefined;
  /** Why the last sweep failed, else why the ConfigMaps cannot be read, or one that is pending could not be written. */
  readonly error: string | undefined;
  /** What only a person ends of that. */
  readonly cause: ConfigMapTrouble | undefined;
}

/**
 * An empty list is believed at once where there are fewer ConfigMaps, else when another says the same so much later, and so many
 * endpoints are not found alone either.
 */
const fewestInDoubt = 3;
const witnessesApartMs = 3_000;
const mostAskedFor = 3;

/**
 * Keeps one ConfigMap per active endpoint of an account in a namespace (Cloud Management API, section 2). The
 * cloud is asked by one paged list an interval. A list that breaks off adds and changes what it showed, and deletes
 * nothing; nor does an empty one where there are many, until a second one says the same, and some of them are asked for
 * and not found. An endpoint that cannot be read leaves its ConfigMap as it is.
 */
export class EndpointMirror {
  readonly #options: EndpointMirrorOptions;
  readonly #log: Log;
  readonly #configMaps: ConfigMapSet;
  readonly #sweeps: Sweeps;
  #isFirst = true;
  #sweptAt: number | undefined;
  /** On the monotonic clock; undefined while lists show something. */
  #emptySince: number | undefined;
  #sweepError: string | undefined;
  /** What could not be read, as it was last told. */
  #odd = '';

  constructor(options: EndpointMirrorOptions) {
    this.#options = options;
    this.#log = options.log.child({ controller: 'endpointmirror', account: options.account });
    this.#configMaps = new ConfigMapSet({ ...options, log: this.#log });
    this.#sweeps = new Sweeps({
      ...options,
      sweep: (startedAt, signal) => this.#sweep(startedAt, signal),
      onEnd: (error) => this.#ended(error),
    });
  }

  /** Mirrors until the signal aborts, then finishes the writes under way. To be called once; never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#configMaps.run(signal, () => this.#sweeps.run(signal));
  }

  /** Does not wait for the interval to end, as after a change of credentials. */
  sweepNow(): void {
    this.#sweeps.now();
  }

  status(): MirrorStatus {
    const { size, pending, error, cause } = this.#configMaps;
    return {
      synced: this.#sweptAt !== undefined && pending === 0,
      endpoints: size,
      pending,
      sweptAt: this.#sweptAt,
      error: this.#sweepError ?? error,
      cause: this.#sweepError === undefined ? cause : undefined,
    };
  }

  async #sweep(startedAt: number, signal: AbortSignal): Promise<void> {
    // One that breaks off late each time would be ahead of all that is looked at again, for ever.
    const priority = this.#isFirst ? 'first' : 'resync';
    this.#isFirst = false;
    const names = new Set<string>();
    const odd: OddItem[] = [];
    let [listed, changed] = [0, 0];
    const onOdd = (item: OddItem) => odd.push(item);
    for await (const endpoint of this.#options.endpoints.listAll({ priority, signal }, { onOdd })) {
      listed += 1;
      if (!this.#admits(endpoint)) continue;
      const name = endpointName(endpoint.id);
      // What is shown twice, and not alike, would be written twice in each sweep.
      if (names.has(name)) continue;
      names.add(name);
      if (this.#configMaps.want(name, endpointJSON(endpoint))) changed++;
    }
    this.#noteOdd(odd);
    await this.#checkEmpty(listed + odd.length, signal);
    // Whose ConfigMap is one that cannot be read, its id says; where that cannot be read either, it may be any.
    for (const { id } of odd) if (id !== undefined) names.add(endpointName(id));
    const disappeared = odd.some(({ id }) => id === undefined) ? 0 : this.#configMaps.complete(names);
    this.#sweptAt = startedAt;
    if (changed === 0 && disappeared === 0) return;
    this.#log.info('endpoints changed', { endpoints: names.size, changed, disappeared });
  }

  /** Throws while it may be the list of another account, or of a service that has yet to wake up. */
  async #checkEmpty(listed: number, signal: AbortSignal): Promise<void> {
    const now = this.#options.monotonic.now();
    const { present } = this.#configMaps;
    if (listed > 0 || present < fewestInDoubt) {
      this.#emptySince = undefined;
      return;
    }
    this.#emptySince ??= now;
    if (now - this.#emptySince < witnessesApartMs)
      throw new Error(
        `the list is empty, and there are ${present} ConfigMaps: making sure that the endpoints are gone`,
      );
    for (const id of await this.#configMaps.someIDs(mostAskedFor, signal)) {
      const found = await this.#options.endpoints.get(id, { priority: 'resync', signal });
      if (found !== undefined)
        throw new Error(`the list is empty, but endpoint ${id} is there: no ConfigMap is deleted`);
    }
  }

  #noteOdd(odd: readonly OddItem[]): void {
    const told = odd
      .map(({ id = '', problem }) => `${id} ${problem}`)
      .sort()
      .join('; ');
    if (told === this.#odd) return;
    this.#odd = told;
    const [first] = odd;
    if (first === undefined) this.#log.info('every endpoint can be read again');
    else
      this.#log.warn('endpoints cannot be read; their ConfigMaps stay as they are', {
        endpoints: odd.length,
        endpoint: first.id,
        problem: first.problem,
      });
  }

  #admits({ proto, type }: Endpoint): boolean {
    const { protocols = [], types = [] } = this.#options;
    return (protocols.length === 0 || protocols.includes(proto)) && (types.length === 0 || types.includes(type));
  }

  #ended(failure: Error | undefined): void {
    const error = failure?.message;
    if (error === this.#sweepError) return;
    this.#sweepError = error;
    if (error === undefined) this.#log.info('endpoints can be listed again');
    else this.#log.warn('listing endpoints failed; their ConfigMaps stay as they are', { error });
  }
}
