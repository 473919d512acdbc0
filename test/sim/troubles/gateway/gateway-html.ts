import { html } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { gatewayOptions, passesGateway } from './calls.ts';

export const gatewayHtml: TroubleKind = {
  about: 'something before the cloud answers 200 with a page for people',
  begin: toRequests({
    name: 'gateway-html',
    options: gatewayOptions,
    concerns: passesGateway,
    effect: () => ({ instead: html(200, 'Please sign in') }),
  }),
  plan: (chance) =>
    lasting(chance, [2, 90], { calls: chance.pick(['all', 'mutating']), probability: chance.pick([0.3, 1, 1]) }),
};
