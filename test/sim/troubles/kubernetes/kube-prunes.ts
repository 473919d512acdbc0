import { z } from 'zod';
import { parseRoute } from '../../../../src/reference/kube-api/route.ts';
import type { Flight } from '../../core/network.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

/** What a definition may be too old for; not for whose a resource is, without which two installations are not kept apart. */
const fields = ['startedAt', 'shownOptions', 'shard', 'endpointsMirrored', 'uri', 'appliedPolicyHash', 'completedAt'];

interface Patch {
  readonly status?: Readonly<Record<string, unknown>>;
}

function isStatus({ to, method, path }: Flight): boolean {
  const { group, subresource } = parseRoute(path.split('?', 1)[0] ?? '') ?? {};
  return to.name === 'kube' && method === 'PATCH' && group === 'edge-operator.dev' && subresource === 'status';
}

/** As with a definition that does not name it: it is not there afterwards, whatever was there before. */
function without({ status = {}, ...patch }: Patch, unknown: readonly string[]): Patch {
  return { ...patch, status: { ...status, ...Object.fromEntries(unknown.map((field) => [field, null])) } };
}

export const kubePrunes: TroubleKind = {
  about: 'the definitions are of an older release for a while, and fields go from statuses as they are written',
  begin: toRequests({
    name: 'kube-prunes',
    options: options({ probability: probability.default(1), fields: z.array(z.string()).default(fields) }),
    concerns: isStatus,
    effect: ({ body = '{}' }, { options: { fields } }) => ({
      body: JSON.stringify(without(JSON.parse(body), fields)),
    }),
  }),
  plan: (chance) => lasting(chance, [5, 300], { fields: chance.pick([fields, [chance.pick(fields)]]), probability: 1 }),
};
