import { z } from 'zod';
import { text } from '../fields.ts';
import { ApiProblem } from '../problem.ts';
import { enabled } from './enabled.ts';
import { defineModule } from './module.ts';

/** The cloud notification service, whose requests are verified without a secret (reference section 7). */
const notificationProvider = 'sns';

export const webhookVerification = defineModule({
  name: 'webhook_verification',
  parent: 'httpsRoute',
  onUpstream: false,
  body: z.strictObject({ enabled, provider: text.min(1, 'must not be empty'), secret: text.default('') }),
  replace: (body) => {
    if (body.secret === '' && body.provider.toLowerCase() !== notificationProvider) {
      throw new ApiProblem(
        'secretRequired',
        `missing field "secret": every provider but ${notificationProvider} needs it`,
      );
    }
    return body;
  },
  render: (stored) => stored,
});
