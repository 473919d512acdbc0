import { type RawHeaders, valuesOf } from '../captures/message.ts';

/**
 * Whether a request asks for another protocol, and can be given it: Node hands over no body with an upgrade, and HTTP/2
 * cannot be inspected. What many clients of HTTP/2 send at first (`Upgrade: h2c`) is a request like any other.
 */
export function asksForUpgrade(headers: RawHeaders): boolean {
  const [connection, upgrade] = [valuesOf(headers, 'connection').join(), valuesOf(headers, 'upgrade').join()];
  const hasBody = [...valuesOf(headers, 'transfer-encoding'), ...valuesOf(headers, 'content-length')].some(isNotZero);
  return upgrade !== '' && !/^h2c?$/i.test(upgrade) && /\bupgrade\b/i.test(connection) && !hasBody;
}

const isNotZero = (length: string): boolean => length !== '0';
