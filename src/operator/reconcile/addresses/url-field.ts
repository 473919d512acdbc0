import { z } from 'zod';
import { baseURLForm } from '../../../common/http/url.ts';

/** The address of a service. A pattern alone would be told of as such, without what to write. */
export const urlField = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\/[^\s\p{Cc}/?#@]+(\/[^\s\p{Cc}?#]*)?$/u, baseURLForm)
  .meta({
    'x-kubernetes-validations': [
      { rule: "self.startsWith('https://') || self.startsWith('http://')", message: baseURLForm },
    ],
  });
