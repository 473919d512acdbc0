import { z } from 'zod';
import { mainKey } from '../../core/story.ts';
import { refusal } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { isWithKey, someKey } from './keys.ts';

const statuses = [401, 403] as const;

export const revokedKey: TroubleKind = {
  about: 'the cloud refuses a key for a while, with 401 or 403',
  begin: toRequests({
    name: 'revoked-key',
    options: options({
      key: z.string().default(mainKey),
      status: z.literal(statuses).default(403),
      probability: probability.default(1),
    }),
    concerns: isWithKey,
    effect: (_, { options: { status }, chance }) => ({
      instead: refusal(status, 'credentialsUnknown', 'the API key is unknown', chance),
    }),
  }),
  plan: (chance, cast) => lasting(chance, [10, 400], { key: someKey(chance, cast), status: chance.pick(statuses) }),
};
