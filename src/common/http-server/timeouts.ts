/** How long a server of HTTP keeps connections of which nothing is heard, in milliseconds; 0 is for ever. */
export interface ServerTimeouts {
  /** Until a client has sent all of the head of its request. */
  readonly headMs: number;
  /** Until it has sent all of the request. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** Until a byte of a request or its answer passes. */
  readonly quietMs: number;
  /** How often heads and requests are looked for that are late. */
  readonly checkMs: number;
}

/** Of an API: its requests are short, its answers soon begun. */
export const apiTimeouts: ServerTimeouts = {
  headMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  quietMs: 120_000,
  checkMs: 5_000,
};

/** As the options of Node's server. */
export function serverTimeouts({ headMs, requestMs, keepAliveMs, checkMs }: ServerTimeouts) {
  return {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkMs,
  };
}

/** How long a connection is still read after its refusal: closed with data unread, it would be reset and lose that. */
export const lingerMs = 1_000;

/** How long the rest of a body is read that is refused, where its connection ends with the answer. */
export const readOutMs = 10_000;
