import { Breaker } from '../../common/breaker.ts';
import { ApiError } from '../../common/http/errors.ts';

/** A refused key is tried again after so long, in case the service has come to know it. */
const refusedKeyPause = { minMs: 10_000, maxMs: 300_000 };
/** People may have it tried at most this often, all together. */
const wishPauseMs = 60_000;
/** A 403 to one resource raises the question whether it is the key, at most this often; and so often where it was not answered. */
const questionPauseMs = { answered: 60_000, unanswered: 10_000 };

/** What was asked for, as far as it tells something of the key. */
export interface Asked {
  /** A list needs no right to any one resource: a 403 to it is a 403 to the key. */
  readonly isList: boolean;
}

/**
 * Keeps a key that is known to be refused from being sent: after a 401, or a 403 to a list, calls fail here until it is
 * time for one to find out whether it is still refused: after 10 s, doubling to 5 minutes, or when a person asks. A 403
 * to anything else is about that, or about the key: a list is to tell, at most once a minute, and everything else waits
 * for that.
 */
export class KeyGate {
  readonly #now: () => number;
  readonly #breaker: Breaker<ApiError>;
  #lastRefusal: RefusalAnswer = {};
  #isQuestioned = false;
  #question: Promise<unknown> | undefined;
  /** Not before. */
  #nextQuestionAt = Number.NEGATIVE_INFINITY;
  #nextWishAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds, monotonic */
  constructor(now: () => number) {
    this.#now = now;
    this.#breaker = new Breaker({ ...refusedKeyPause, now });
  }

  /** A person asks for a refused key to be tried now, by the next call. Answers whether it is: at most once a minute. */
  tryNow(): boolean {
    if (this.#breaker.failure === undefined || this.#now() < this.#nextWishAt) return false;
    this.#nextWishAt = this.#now() + wishPauseMs;
    this.#breaker.endPause();
    return true;
  }

  /** That the service refused the key, as a call is told that need not be sent; undefined when it is time to try again. */
  refusal(): ApiError | undefined {
    try {
      this.#breaker.check();
      return undefined;
    } catch {
      return keyRefused(this.#lastRefusal);
    }
  }

  /** A list that is under way, to find out what a 403 was about: nothing else is to be sent meanwhile. Never rejects. */
  get question(): Promise<unknown> | undefined {
    return this.#question;
  }

  /** Whether such a list is to be sent, with {@link ask}. Answers true to one. */
  asksForList(): boolean {
    if (!this.#isQuestioned || this.#breaker.failure !== undefined || this.#now() < this.#nextQuestionAt) return false;
    this.#isQuestioned = false;
    this.#nextQuestionAt = this.#now() + questionPauseMs.answered;
    return true;
  }

  /** What the list says of the service is what the calls that wait for it will be told; `wasSent` false tells nothing. */
  ask(list: () => Promise<unknown>, wasSent: () => boolean): Promise<unknown> {
    const over = () => {
      this.#question = undefined;
      if (wasSent()) return;
      this.#isQuestioned = true;
      this.#askAgain();
    };
    this.#question = list().then(over, over);
    return this.#question;
  }

  /** The service refused the key: of one that is known to be refused any 403 says so again. */
  refuses(status: number | undefined, { isList }: Asked): boolean {
    return isRefusal(status, isList) || (status === 403 && this.#breaker.failure !== undefined);
  }

  /** Learns from a call; `wasSent` false tells nothing. */
  try<T>(attempt: () => Promise<T>, asked: Asked, wasSent: () => boolean): Promise<T> {
    return this.#breaker.try(attempt, (error) => (wasSent() ? this.#refusalIn(error, asked) : undefined));
  }

  /** No answer at all tells nothing new of a key that was refused. Any other answer is to a key that is known. */
  #refusalIn(error: unknown, asked: Asked): ApiError | undefined {
    if (!(error instanceof ApiError)) return undefined;
    const { status } = error;
    const wasRefused = this.#breaker.failure !== undefined;
    if (this.refuses(status, asked)) {
      this.#lastRefusal = { status, code: error.code };
      return keyRefused(error);
    }
    if (wasRefused && status === undefined) return error;
    if (asked.isList && error.reason === 'Unreachable') this.#askAgain();
    if (status === 403) this.#raiseQuestion();
    else if (status !== undefined) this.#breaker.close();
    return undefined;
  }

  #raiseQuestion(): void {
    if (this.#now() >= this.#nextQuestionAt) this.#isQuestioned = true;
  }

  /** Something in between did not let the question through. */
  #askAgain(): void {
    this.#nextQuestionAt = Math.min(this.#nextQuestionAt, this.#now() + questionPauseMs.unanswered);
  }
}

type RefusalAnswer = Partial<Pick<ApiError, 'status' | 'code' | 'definite' | 'operationID' | 'retryAfterMs'>>;

/**
 * In the same words whatever was asked for, and whether or not a call was sent to find out: conditions do not change from one try
 * to the next.
 */
function keyRefused({ status, code, definite = true, operationID, retryAfterMs }: RefusalAnswer): ApiError {
  const message = `the API answered ${[status, code].filter(Boolean).join(': ')}; replace the API key`;
  return new ApiError(message, {
    ...{ reason: 'Unauthorized', definite },
    ...{ status, code, operationID, retryAfterMs },
  });
}

/** The service refused the key, and not only what was asked for with it. */
function isRefusal(status: number | undefined, isList: boolean): boolean {
  return status === 401 || (status === 403 && isList);
}
