import type { RequestHead } from '../captures/capture.ts';
import { pairs } from '../captures/message.ts';

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i;

/** The host that a request is for: that of a target that is a URL goes before Host (RFC 9112, section 3.2.2). */
export function hostOf(target: string, host: string | undefined): string | undefined {
  return absoluteForm.exec(target)?.[1] ?? host;
}

/** As a server that is no proxy is asked (RFC 9112, section 3.2.1). */
export function originForm(head: RequestHead): RequestHead {
  const [, host, path = ''] = absoluteForm.exec(head.target) ?? [];
  if (host === undefined) return head;
  const others = pairs(head.rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
  return { ...head, target: path.startsWith('/') ? path : `/${path}`, rawHeaders: ['Host', host, ...others.flat()] };
}
