import { z } from 'zod';
import { textList } from '../fields.ts';
import { kinds } from '../kinds.ts';
import { ref } from '../ref.ts';
import { enabled } from './enabled.ts';
import { knownIds } from './known-ids.ts';
import { defineModule } from './module.ts';

export const ipRestriction = defineModule({
  name: 'ip_restriction',
  parent: 'httpsRoute',
  onUpstream: true,
  body: z.strictObject({ enabled, ip_policy_ids: textList.default([]) }),
  replace: (body, context) => ({
    enabled: body.enabled,
    ids: knownIds(body.ip_policy_ids, 'ip_policy_ids', kinds.ipPolicy, context),
  }),
  render: (stored, { call }) => ({
    enabled: stored.enabled,
    ip_policies: stored.ids.map((id) => ref(call.base, id)),
  }),
});
