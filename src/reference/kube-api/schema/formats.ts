import { isIP, isIPv4, isIPv6 } from 'node:net';

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const hostname = /^(?=.{1,255}$)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)*\.?$/i;
const duration = /^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/;

/** The string formats that Kubernetes checks; a format that is not here is not checked. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text.replace(' ', 'T'))),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  uuid: (text) => uuid.test(text),
  hostname: (text) => hostname.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  ip: (text) => isIP(text) !== 0,
  cidr: (text) => /^[^/]+\/\d{1,3}$/.test(text) && isIP(text.split('/')[0] ?? '') !== 0,
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  byte: (text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0,
  duration: (text) => duration.test(text),
};

export function hasFormat(text: string, format: string): boolean {
  return formats[format]?.(text) ?? true;
}

/** True when the integer fits `int32` or `int64`. */
export function fitsInteger(value: number, format: string | undefined): boolean {
  if (format === 'int32') return value >= -(2 ** 31) && value < 2 ** 31;
  return Math.abs(value) <= 2 ** 63;
}
