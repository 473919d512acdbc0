import { z } from 'zod';
import type { Cause } from './problem.ts';

/** Cloud Management API, section 8. Bytes of UTF-8, not characters. */
const metadataLimitBytes = 4096;

/** Cloud Management API, section 2. */
export const regions = ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'] as const;

const cause = (name: Cause) => ({ cause: name });

export const text = z.string({ error: 'must be a string' });
export const textList = z.array(text, { error: 'must be a list of strings' });
export const flag = z.boolean({ error: 'must be true or false' });

/** Of every module: Cloud Management API, section 4, rule 3. */
export const enabled = flag.default(true).describe('whether the module applies to traffic');

export const metadata = text
  .refine((value) => Buffer.byteLength(value) <= metadataLimitBytes, {
    error: `must be at most ${metadataLimitBytes} bytes of UTF-8`,
    params: cause('metadataTooLong'),
  })
  .meta({ maxLength: metadataLimitBytes, description: `at most ${metadataLimitBytes} bytes of UTF-8` });

export type Region = (typeof regions)[number];

export const region = text
  .refine((value): value is Region => (regions as readonly string[]).includes(value), {
    error: `must be one of ${regions.join(', ')}`,
    params: cause('regionUnknown'),
  })
  .meta({ enum: regions })
  .default('us');

/** An id with its type prefix (Cloud Management API, section 2); shorter than the server's own, for people to write. */
export const idOf = (...prefixes: readonly string[]) =>
  text.regex(new RegExp(`^(${prefixes.join('|')})_[0-9A-Za-z]{1,64}$`), {
    error: `must be an id: ${prefixes.map((prefix) => `${prefix}_…`).join(' or ')} and 1 to 64 letters or digits`,
  });

const isPort = (text = ''): boolean => Number(text) >= 1 && Number(text) <= 65_535;

export const hostport = text
  .regex(/^.+:\d{1,5}$/, { error: 'must be hostname:port' })
  .refine((value) => isPort(value.split(':').at(-1)), { error: 'must have a port from 1 to 65535' });
export const uri = z.url({ error: 'must be an absolute URL' });
export const time = text.meta({ format: 'date-time', description: 'RFC 3339, in UTC' });
export const refShape = z.strictObject({ id: text, uri });
