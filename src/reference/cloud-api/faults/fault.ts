/** What happens to a request that a fault was set for. */
export type Effect =
  /** Only late. */
  | { readonly kind: 'none' }
  /** Answered with this status instead of being worked on. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string; readonly body?: string }
  /** Worked on and committed; then the connection closes without an answer. */
  | { readonly kind: 'drop' }
  /** The connection is reset before any work. */
  | { readonly kind: 'reset' }
  /** Not worked on and never answered. */
  | { readonly kind: 'hang' }
  /** Answered with status 200 and a page of HTML, as a captive proxy does, without any work. */
  | { readonly kind: 'html' }
  /** Worked on; one field of the answer has the wrong type: the named one, else the first. */
  | { readonly kind: 'malformed'; readonly field?: string };

export interface Fault {
  /** As it was written. */
  readonly spec: string;
  /** undefined is any. */
  readonly method: string | undefined;
  readonly path: RegExp;
  /** How many matching requests pass before it begins. */
  readonly skip: number;
  /** How many requests it strikes, Infinity when it stays. */
  readonly count: number;
  /** In (0, 1]. */
  readonly probability: number;
  readonly latencyMs: number;
  readonly effect: Effect;
}
