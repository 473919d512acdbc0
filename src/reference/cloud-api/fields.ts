import { z } from 'zod';
import type { Cause } from './problem.ts';

/** Reference section 8. Bytes of UTF-8, not characters. */
const metadataLimitBytes = 4096;

/** Reference section 2. */
export const regions = ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'] as const;
export const defaultRegion = 'us';

const cause = (name: Cause) => ({ cause: name });

export const text = z.string({ error: 'must be a string' });
export const textList = z.array(text, { error: 'must be a list of strings' });
export const flag = z.boolean({ error: 'must be true or false' });

export const metadata = text.refine((value) => Buffer.byteLength(value) <= metadataLimitBytes, {
  error: `must be at most ${metadataLimitBytes} bytes of UTF-8`,
  params: cause('metadataTooLong'),
});

export const region = text
  .refine((value) => (regions as readonly string[]).includes(value), {
    error: `must be one of ${regions.join(', ')}`,
    params: cause('regionUnknown'),
  })
  .default(defaultRegion);
