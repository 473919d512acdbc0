import { flag } from '../fields.ts';

/** Reference section 4, rule 3. */
export const enabled = flag.default(true);
