import type { Dispatcher } from 'undici';

/** Asked once connected, right before the first byte of a request is sent; what it throws stops the request. */
export type Permit = () => void;

/** One request, which is sent only if its permit is given when it could be: connecting may have taken seconds. */
export class PermittedSending {
  readonly #permit: Permit;
  #refused: { readonly cause: unknown } | undefined;

  constructor(permit: Permit) {
    this.#permit = permit;
  }

  /** Certainly nothing was sent. */
  get isRefused(): boolean {
    return this.#refused !== undefined;
  }

  /** What the permit threw. */
  get refusal(): unknown {
    return this.#refused?.cause;
  }

  readonly interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, this.#asking(handler));

  #asking(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller, context) => {
        handler.onRequestStart?.(controller, context);
        this.#ask(controller);
      },
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    };
  }

  #ask(controller: Dispatcher.DispatchController): void {
    try {
      this.#permit();
    } catch (cause) {
      this.#refused = { cause };
      controller.abort(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }
}
