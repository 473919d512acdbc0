import { isIPv4, isIPv6 } from 'node:net';

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const hostname = /^([a-z0-9](-?[a-z0-9]{0,62})?|([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$/i;
const durations = /^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$|\d\s*(ns|us|µs|ms|s|m|h|d|w)[a-z]*$/i;
const uuid = (version: string) =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i');
const byte = '([01]?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])';

/** The string formats that Kubernetes checks; a format that is not here is not checked. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text),
  uuid: matches(uuid('[0-9a-f]')),
  uuid3: matches(uuid('3')),
  uuid4: matches(uuid('4')),
  uuid5: matches(uuid('5')),
  hostname: (text) => text.length <= 255 && hostname.test(text),
  ipv4: (text) => isIPv4(text.replaceAll(/\b0+(?=\d)/g, '')),
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  cidr: isCidr,
  mac: matches(/^([0-9a-f]{2}[:-]){5}([0-9a-f]{2}([:-][0-9a-f]{2}){2})?[0-9a-f]{2}$/i),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  email: matches(/^([^@<>]*<)?[^@\s<>]+@[^@\s<>]+>?$/),
  byte: (text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0,
  duration: matches(durations),
  hexcolor: matches(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i),
  rgbcolor: matches(new RegExp(`^rgb\\(\\s*${byte}\\s*,\\s*${byte}\\s*,\\s*${byte}\\s*\\)$`)),
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  creditcard: matches(/^[\d -]{13,23}$/),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  isbn: matches(/^([\d -]{9,12}[\dXx]|[\d -]{13,17})$/),
};

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

/** `Date` takes 30 February for 2 March. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const most = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}

export function hasFormat(text: string, format: string): boolean {
  return formats[format]?.(text) ?? true;
}

/** True when the number fits `int32`, `int64` or `float`. */
export function fitsNumber(value: number, format: string | undefined): boolean {
  if (format === 'int32') return value >= -(2 ** 31) && value < 2 ** 31;
  if (format === 'float') return Math.abs(value) <= 3.4028234663852886e38;
  return format === 'double' || Math.abs(value) < 2 ** 63;
}
