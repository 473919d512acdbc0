import { z } from 'zod';
import { clipped } from '../../../../common/http/text.ts';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { fingerprint } from '../../../reconcile/resource/json.ts';

/** What an agent shows of a tunnel's definition. */
export const shownSchema = z.object({ proto: z.string(), addr: z.string(), inspect: z.boolean().optional() });
export type Shown = z.infer<typeof shownSchema>;

/** The same as it goes into a record, which must stay short: a fingerprint. What was not asked for may be anything. */
export const lookSchema = z.object({ look: z.string(), inspect: z.boolean().optional() });
export type Look = z.infer<typeof lookSchema>;

/** A spec has at most half of it. */
const longest = 4_096;

export function shownOf({ proto, config: { addr, inspect } }: Tunnel): Shown {
  return { proto: clipped(proto, longest), addr: clipped(addr, longest), inspect };
}

/** What else it shows: options as they were asked for, and what the agent makes of those that were not. */
export function shownOptionsOf({ config: { addr: _addr, inspect: _inspect, ...options } }: Tunnel): string {
  return fingerprint(options);
}

export function lookOf({ proto, addr, inspect }: Shown): Look {
  return { look: fingerprint([proto, address(addr)]), inspect };
}

/** Whether what is shown may be what looks like that. */
export function looksLike(shown: Shown, { look, inspect }: Look): boolean {
  const isSame = spellings(shown).some((addr) => fingerprint([shown.proto, addr]) === look);
  return isSame && (inspect ?? shown.inspect) === shown.inspect;
}

/** The field of a definition that is asked for and shown otherwise. */
export function differingField(shown: Shown, asked: Shown): 'proto' | 'addr' | 'inspect' | undefined {
  if (shown.proto !== asked.proto) return 'proto';
  if (!spellings(shown).includes(address(asked.addr))) return 'addr';
  return asked.inspect === undefined || shown.inspect === asked.inspect ? undefined : 'inspect';
}

/**
 * The address with the default port and without it, where it is a host of https, or one of no other scheme in an http tunnel. Not one
 * form of both: records have the fingerprint of either.
 */
function spellings({ proto, addr }: Shown): readonly string[] {
  const own = address(addr);
  const [, scheme = '', host, port] = /^(https:\/\/)?(\[[^\]/]*\]|[^:/?#@[\]]+)(:\d+)?$/.exec(own) ?? [];
  if (host === undefined || (scheme === '' && proto !== 'http')) return [own];
  const usual = scheme === '' ? ':80' : ':443';
  return port === undefined || port === usual ? [`${scheme}${host}`, `${scheme}${host}${usual}`] : [own];
}

/** Agents show `8080` as `localhost:8080` or `http://localhost:8080` too, with a slash at its end or without. */
function address(addr: string): string {
  const bare = addr.replace(/^(http|tcp|tls):\/\//, '');
  if (/^\d+$/.test(bare)) return `localhost:${bare}`;
  const isOrigin = /^(\w+:\/\/)?[^/]+\/?$/.test(bare);
  return isOrigin ? bare.replace(/\/$/, '').toLowerCase() : bare;
}
