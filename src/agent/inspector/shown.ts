import type { Capture } from '../captures/capture.ts';
import type { Message, RawHeaders } from '../captures/message.ts';
import { type ShownBody, shownBody } from './body.ts';
import { type Summary, summary } from './summary.ts';

interface ShownMessage {
  /** Names and values in turn. */
  readonly headers: RawHeaders;
  readonly body: ShownBody;
  /** Whether the end of the message was seen. */
  readonly complete: boolean;
}

/** A captured request with its headers in order and its bodies decoded. */
export interface Shown extends Summary {
  readonly remoteAddr: string;
  readonly request: ShownMessage;
  /** Null as long as the local server has not answered. */
  readonly response: (ShownMessage & { readonly status: string }) | null;
}

export function shown(capture: Capture): Shown {
  const { remoteAddr, requestMessage, responseMessage } = capture;
  const response = responseMessage && { status: statusLine(responseMessage), ...shownMessage(responseMessage) };
  return { ...summary(capture), remoteAddr, request: shownMessage(requestMessage), response: response ?? null };
}

/** Changes with what {@link shown} shows, beside the duration of what goes on. */
export function versionOf({ requestMessage, responseMessage, ended, evicted }: Capture): string {
  const part = (message: Message | undefined) =>
    message === undefined ? 'none' : `${message.bodyBytes}.${message.complete}.${message.truncated}`;
  return `"${part(requestMessage)}-${part(responseMessage)}-${ended}-${evicted}"`;
}

const shownMessage = (message: Message): ShownMessage => ({
  headers: message.rawHeaders,
  body: shownBody(message),
  complete: message.complete,
});

const statusLine = ({ startLine }: Message): string => startLine.slice(startLine.indexOf(' ') + 1).trimEnd();
