import { z } from 'zod';
import type { Chance } from '../../core/random.ts';
import type { Answer } from '../../core/server.ts';
import { empty, html, json, refusal } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { options } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { gatewayShape, passesGateway } from './calls.ts';

const forms = ['json', 'empty', 'html', 'api-error'] as const;

function notFound(form: (typeof forms)[number], chance: Chance): Answer {
  if (form === 'empty') return empty(404);
  if (form === 'html') return html(404, '404 Not Found');
  if (form === 'json') return json(404, { message: 'no Route matched with those values' });
  return refusal(404, 'pathUnknown', 'no such path', chance);
}

export const gateway404: TroubleKind = {
  about: 'a gateway without its route answers 404 before the cloud',
  begin: toRequests({
    name: 'gateway-404',
    options: options({
      ...gatewayShape,
      /** `json` is that of some other program, `api-error` has the form of the cloud's own errors. */
      form: z.enum(forms).default('json'),
    }),
    concerns: passesGateway,
    effect: (_, { options, chance }) => ({ instead: notFound(options.form, chance) }),
  }),
  plan: (chance) =>
    lasting(chance, [2, 90], {
      form: chance.pick(forms),
      calls: chance.pick(['all', 'mutating']),
      probability: chance.pick([0.3, 1, 1]),
    }),
};
