/**
 * A signal that aborts with the first of several, until it is disposed of. Not `AbortSignal.any`: the process itself
 * holds on to those that have listeners, and so to all that is reached from there, until they abort.
 */
export class JoinedSignal implements Disposable {
  readonly #joined = new AbortController();
  readonly #listeners: readonly (readonly [AbortSignal, () => void])[];

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    const given = signals.filter((signal) => signal !== undefined);
    this.#listeners = given.map((signal) => [signal, () => this.#abort(signal.reason)]);
    const aborted = given.find((signal) => signal.aborted);
    for (const [signal, listener] of this.#listeners) signal.addEventListener('abort', listener);
    if (aborted !== undefined) this.#abort(aborted.reason);
  }

  get signal(): AbortSignal {
    return this.#joined.signal;
  }

  #abort(reason: unknown): void {
    this[Symbol.dispose]();
    this.#joined.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) signal.removeEventListener('abort', listener);
  }
}
