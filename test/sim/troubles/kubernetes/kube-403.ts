import { z } from 'zod';
import { forbidden, invalid } from '../../../../src/reference/kube-api/api-error.ts';
import { parseRoute } from '../../../../src/reference/kube-api/route.ts';
import type { Flight } from '../../core/network.ts';
import { kubeRefusal } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { isMutating, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

/** `own` are the resources of the operator's group. */
const objects = ['own', 'secrets', 'configmaps', 'leases', 'events'] as const;
/** `records` are annotations and finalizers. */
const acts = ['all', 'writes', 'records', 'status'] as const;
/** A role forbids, as a webhook may; a ValidatingAdmissionPolicy calls a write invalid. */
const ways = ['role', 'webhook', 'policy'] as const;
const reasons: Readonly<Record<(typeof ways)[number], string>> = {
  role: 'User "system:serviceaccount:edge-operator:edge-operator" cannot do that',
  webhook: 'admission webhook "policy.example.com" denied the request: not now',
  policy: "ValidatingAdmissionPolicy 'policy' with binding 'policy' denied request: not now",
};

const routeOf = ({ path }: Flight) => parseRoute(path.split('?', 1)[0] ?? '');

function isOf(flight: Flight, of: (typeof objects)[number]): boolean {
  const { group, plural } = routeOf(flight) ?? {};
  return of === 'own' ? group === 'edge-operator.dev' : plural === of;
}

function isAct(flight: Flight, act: (typeof acts)[number]): boolean {
  if (act === 'all') return true;
  if (act === 'writes') return isMutating(flight);
  const isStatus = routeOf(flight)?.subresource === 'status';
  return isMutating(flight) && isStatus === (act === 'status');
}

export const kube403: TroubleKind = {
  about:
    'Kubernetes forbids an operator some of what it may do, as where a role or an admission policy is wrong for a while',
  begin: toRequests({
    name: 'kube-403',
    options: options({
      probability: probability.default(1),
      of: z.enum(objects).default('own'),
      act: z.enum(acts).default('all'),
    }),
    concerns: (flight, { of, act }) => flight.to.name === 'kube' && isOf(flight, of) && isAct(flight, act),
    effect: (flight, { chance }) => {
      const { group = '', plural = '', name = '' } = routeOf(flight) ?? {};
      const way = chance.pick(isMutating(flight) ? ways : (['role'] as const));
      const message = reasons[way];
      const error =
        way === 'policy'
          ? invalid(group, plural, name, [{ reason: 'FieldValueInvalid', message, field: '<nil>' }])
          : forbidden({ group, plural }, name, message);
      return { instead: kubeRefusal(error) };
    },
  }),
  plan: (chance) =>
    lasting(chance, [5, 150], {
      probability: chance.pick([0.3, 1, 1]),
      of: chance.pick(['own', ...objects]),
      act: chance.pick(acts),
    }),
};
