import { z } from 'zod';
import type { Chance } from '../../core/random.ts';
import type { Answer } from '../../core/server.ts';
import { empty, html, json } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { gatewayShape, passesGateway } from './calls.ts';
import { insteadOf } from './instead.ts';

/** In one of the forms that are not the API's. */
export const inForeignWords = (
  chance: Chance,
  status: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): Answer => chance.pick([empty(status, headers), html(status, message, headers), json(status, { message }, headers)]);

/** A gateway that answers calls with a status of its own, whatever the cloud does with them. */
export function answeringItself(
  name: string,
  {
    about,
    statuses,
    message,
  }: { readonly about: string; readonly statuses: readonly number[]; readonly message: string },
): TroubleKind {
  const begin = toRequests({
    name,
    options: options({
      ...gatewayShape,
      /** Default any of them. */
      status: z.literal(statuses).optional(),
      /** The share of the calls that the cloud carried out nevertheless. */
      carriedOut: probability.default(0.5),
    }),
    concerns: passesGateway,
    effect: (_, { options, chance }) => {
      const answer = inForeignWords(chance, options.status ?? chance.pick(statuses), message);
      return insteadOf(answer, chance.chance(options.carriedOut));
    },
  });
  const plan: TroubleKind['plan'] = (chance) =>
    lasting(chance, [2, 90], {
      calls: chance.pick(['all', 'mutating']),
      probability: chance.pick([0.3, 1]),
      carriedOut: chance.pick([0, 0.5, 1]),
    });
  return { about, begin, plan };
}
