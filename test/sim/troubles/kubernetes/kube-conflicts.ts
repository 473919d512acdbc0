import { modified } from '../../../../src/reference/kube-api/api-error.ts';
import { parseRoute } from '../../../../src/reference/kube-api/route.ts';
import type { Flight } from '../../core/network.ts';
import { kubeRefusal } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

/** Of an object that is there: a POST has no version to be too old. */
const isUpdate = ({ to, method }: Flight) => to.name === 'kube' && ['PUT', 'PATCH'].includes(method);

export const kubeConflicts: TroubleKind = {
  about: 'Kubernetes answers 409 to updates, as if somebody else had been quicker',
  begin: toRequests({
    name: 'kube-conflicts',
    options: options({ probability: probability.default(0.4) }),
    concerns: isUpdate,
    effect: ({ path }) => {
      const { group = '', plural = '', name = '' } = parseRoute(path.split('?', 1)[0] ?? '') ?? {};
      return { instead: kubeRefusal(modified({ group, plural }, name)) };
    },
  }),
  plan: (chance) => lasting(chance, [5, 120], { probability: chance.pick([0.1, 0.4, 0.8]) }),
};
