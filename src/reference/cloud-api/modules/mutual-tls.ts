import { z } from 'zod';
import { kinds } from '../collection.ts';
import { enabled, refShape, textList } from '../fields.ts';
import { ref } from '../ids.ts';
import { defineModule, knownIds } from './module.ts';

export const mutualTls = defineModule({
  name: 'mutual_tls',
  title: 'MutualTlsModule',
  parent: 'httpsEdge',
  onUpstream: false,
  body: z.strictObject({ enabled, certificate_authority_ids: textList.default([]) }),
  answer: z.strictObject({ enabled, certificate_authorities: z.array(refShape) }),
  replace: (body, context) => ({
    enabled: body.enabled,
    ids: knownIds(body.certificate_authority_ids, 'certificate_authority_ids', kinds.certificateAuthority, context),
  }),
  render: (stored, { request }) => ({
    enabled: stored.enabled,
    certificate_authorities: stored.ids.map((id) => ref(request.base, id)),
  }),
});
