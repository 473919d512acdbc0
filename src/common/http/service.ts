export interface Timeouts {
  /** To open a connection, TLS included. */
  readonly connectMs: number;
  /** From the request to the answer's headers. */
  readonly headersMs: number;
  /** Without a byte of the answer's body. */
  readonly bodyMs: number;
  /** For all of a request, from connecting to the end of the answer, whatever its parts may take. */
  readonly totalMs: number;
}

/**
 * Of the operator. What was sent is seen through and recorded within the 20 s that a shard may be without a holder, and the
 * 25 s that a process has after SIGTERM.
 */
export const patience: Timeouts = { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000, totalMs: 15_000 };

/** What the body of an answer says that is not a success. */
export interface ErrorBody {
  readonly code?: string | number | undefined;
  /** For people. They need not be fit for a condition yet. */
  readonly messages: readonly string[];
  /** Of this request: they differ each time, and a message must not. */
  readonly requestIDs?: readonly string[];
  /** The status that it names itself, beside a code of any form or a message. */
  readonly saysStatus?: number | undefined;
}

/** What is particular about a service. */
export interface Service {
  /** What a message says of an answer, before its status: `the API answered`. */
  readonly answered: string;
  /** What a message says before why there was no answer; default nothing. */
  readonly unanswered?: string;
  /** What people call its base URL: `API URL`. */
  readonly urlName: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
  /** Beyond the cluster: a proxy of the environment may lead there. Default false. */
  readonly isOutside?: boolean;
  /** At the same time; default as many as there are requests. */
  readonly connections?: number;
  /** Statuses that bring what was asked for; default 200 alone. */
  readonly success?: readonly number[];
  readonly errorBody: (body: unknown) => ErrorBody;
  /** How a message shows the code, behind the status; default not at all. */
  readonly codeText?: (code: string | number) => string;
  /** What its codes look like; another is not shown. Default whatever `errorBody` takes for one. */
  readonly codeForm?: RegExp;
  /** What its `requestIDs` look like; another is not logged. Default none is. */
  readonly requestIDForm?: RegExp;
  /** Its messages hold no documents: what looks like one is not shown. */
  readonly plainText?: boolean;
  /** Statuses about the key itself: of what such an answer says only status and code are shown. */
  readonly secretStatuses?: readonly number[];
  /** A status that refuses what was asked for to a credential that is good for other things. Default none does. */
  readonly forbidden?: { readonly status: number; readonly cure: string };
  /**
   * Fields of a request's body, at its top, that no message may repeat: neither about that request, nor about later ones
   * of the same client. The key is never repeated.
   */
  readonly secretFields?: readonly string[];
  /** What a message has in place of a secret; default `[redacted]`. */
  readonly redacted?: string;
  /** Retry-After is not believed for longer; default 0: it means nothing. */
  readonly longestRetryAfterMs?: number;
}
