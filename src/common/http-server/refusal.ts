import { maxHeaderSize } from 'node:http';

/** A refusal of the framework, or whatever else was thrown, in the words of a server. */
export interface Unforeseen {
  readonly cause: 'bodyTypeWrong' | 'bodyTooLarge' | 'headTooLarge' | 'requestLate' | 'requestMalformed' | 'internal';
  readonly message: string;
}

/** An error as its server answers it. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

/** A request that is no request of HTTP, or not all of one, or none that is read here; the code is the parser's, or ours. */
export class Unreadable extends Error {
  readonly code: string;

  constructor(code: string) {
    super('the request cannot be read');
    this.code = code;
  }
}

/** What the error is to a caller of the server of that name. */
export function unforeseen(error: unknown, name: string): Unforeseen {
  if (error instanceof Unreadable) return unreadable(error);
  switch (typeof error === 'object' && error !== null && 'code' in error && error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { cause: 'bodyTypeWrong', message: 'header "Content-Type" must be application/json' };
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { cause: 'bodyTooLarge', message: 'the body must be at most 1 MiB' };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return { cause: 'requestMalformed', message: 'the path or length header is malformed' };
    default:
      return { cause: 'internal', message: `something went wrong in the ${name}` };
  }
}

function unreadable({ code }: Unreadable): Unforeseen {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { cause: 'headTooLarge', message: `path and headers must be at most ${maxHeaderSize} bytes` };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { cause: 'requestLate', message: 'the request did not come in time' };
    case 'encoded':
      return {
        cause: 'bodyTypeWrong',
        message:
          'the body must not be encoded: no "Content-Encoding" is supported, and "Transfer-Encoding" only as chunked',
      };
    case 'not one Host':
      return { cause: 'requestMalformed', message: 'header "Host" must be there once, as host[:port]' };
    default:
      return { cause: 'requestMalformed', message: `the request is not HTTP/1.1 (${code})` };
  }
}
