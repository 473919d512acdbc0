import { z } from 'zod';
import { enabled, text } from '../fields.ts';
import { ApiProblem } from '../problem.ts';
import { defineModule } from './module.ts';

/** The cloud notification service, whose requests need no secret (Cloud Management API, section 7). */
const notificationProvider = 'sns';

export const webhookVerification = defineModule({
  name: 'webhook_verification',
  title: 'WebhookVerificationModule',
  parent: 'httpsRoute',
  onUpstream: false,
  body: z.strictObject({
    enabled,
    provider: text.min(1, 'must not be empty'),
    secret: text.default('').describe(`needed by every provider but ${notificationProvider}`),
  }),
  answer: z.strictObject({ enabled, provider: text, secret: text }),
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
