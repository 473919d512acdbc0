import { z } from 'zod';
import { kinds } from '../collection.ts';
import { enabled, refShape, textList } from '../fields.ts';
import { ref } from '../ids.ts';
import { defineModule, knownIds } from './module.ts';

export const ipRestriction = defineModule({
  name: 'ip_restriction',
  title: 'IpRestrictionModule',
  parent: 'httpsRoute',
  onUpstream: true,
  body: z.strictObject({ enabled, ip_policy_ids: textList.default([]) }),
  answer: z.strictObject({ enabled, ip_policies: z.array(refShape) }),
  replace: (body, context) => ({
    enabled: body.enabled,
    ids: knownIds(body.ip_policy_ids, 'ip_policy_ids', kinds.ipPolicy, context),
  }),
  render: (stored, { request }) => ({
    enabled: stored.enabled,
    ip_policies: stored.ids.map((id) => ref(request.base, id)),
  }),
});
