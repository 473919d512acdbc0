import { z } from 'zod';
import { textList } from '../fields.ts';
import { kinds } from '../kinds.ts';
import { ref } from '../ref.ts';
import { enabled } from './enabled.ts';
import { knownIds } from './known-ids.ts';
import { defineModule } from './module.ts';

export const mutualTls = defineModule({
  name: 'mutual_tls',
  parent: 'httpsEdge',
  onUpstream: false,
  body: z.strictObject({ enabled, certificate_authority_ids: textList.default([]) }),
  replace: (body, context) => ({
    enabled: body.enabled,
    ids: knownIds(body.certificate_authority_ids, 'certificate_authority_ids', kinds.certificateAuthority, context),
  }),
  render: (stored, { call }) => ({
    enabled: stored.enabled,
    certificate_authorities: stored.ids.map((id) => ref(call.base, id)),
  }),
});
