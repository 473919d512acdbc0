import { z } from 'zod';
import { parseRoute } from '../../../../src/reference/kube-api/route.ts';
import type { Flight } from '../../core/network.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

const parts = ['annotations', 'finalizers', 'both'] as const;

interface Patch {
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Of a resource, and not of its status, or of a Secret that one holds. */
function isRecord({ to, method, path }: Flight): boolean {
  const { group, plural, subresource } = parseRoute(path.split('?', 1)[0] ?? '') ?? {};
  const isOurs = group === 'edge-operator.dev' || plural === 'secrets';
  return to.name === 'kube' && method === 'PATCH' && isOurs && subresource === undefined;
}

function without({ metadata = {}, ...patch }: Patch, part: (typeof parts)[number]): Patch {
  const { annotations, finalizers, ...rest } = metadata;
  const kept = part === 'annotations' ? { finalizers } : part === 'finalizers' ? { annotations } : {};
  return { ...patch, metadata: { ...rest, ...kept } };
}

export const kubeStrips: TroubleKind = {
  about: "an admission policy takes annotations or finalizers out of the operator's writes for a while",
  begin: toRequests({
    name: 'kube-strips',
    options: options({ probability: probability.default(1), part: z.enum(parts).default('both') }),
    concerns: isRecord,
    effect: ({ body = '{}' }, { options: { part } }) => ({ body: JSON.stringify(without(JSON.parse(body), part)) }),
  }),
  plan: (chance) => lasting(chance, [5, 150], { part: chance.pick(parts), probability: chance.pick([0.3, 1]) }),
};
