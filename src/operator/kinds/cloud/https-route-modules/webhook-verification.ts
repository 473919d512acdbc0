import type { CloudClient } from '../../../cloud/client.ts';
import type { WebhookVerification, WebhookVerificationReplace } from '../../../cloud/schemas.ts';
import { fieldsOf } from '../../../reconcile/parts/fields.ts';
import type { Part, ReadReference } from '../../../reconcile/parts/part.ts';
import { needsNoSecret, type Spec } from './schema.ts';

type WebhookSpec = NonNullable<Spec['webhookVerification']>;

const fields = fieldsOf<WebhookVerificationReplace, WebhookVerification>({
  enabled: 'enabled',
  provider: 'provider',
  secretRef: 'secret',
});

/** The API shows the secret: it is compared here, and goes nowhere else. */
export const webhookVerification: Part<Spec, CloudClient, WebhookVerificationReplace, WebhookVerification> = {
  name: 'webhookVerification',
  condition: 'WebhookVerificationReady',
  displayName: 'webhook verification module',
  desired: async ({ webhookVerification: part }, read) => part && toReplace(part, read),
  refusal: ({ provider = '', secret }) =>
    secret === '' && !needsNoSecret(provider)
      ? `what secretRef names is empty: provider ${provider} needs a secret`
      : undefined,
  status: () => ({}),
  ...fields,
  diff: (asked, shown) => fields.diff(asked, { ...shown, provider: named(shown, asked) }),
  get: (cloud, route, call) => cloud.routeModules.webhookVerification.get(route, call),
  replace: (cloud, route, body, call) => cloud.routeModules.webhookVerification.replace(route, body, call),
  delete: (cloud, route, call) => cloud.routeModules.webhookVerification.delete(route, call),
};

async function toReplace(spec: WebhookSpec, read: ReadReference): Promise<WebhookVerificationReplace> {
  const { enabled, provider, secretRef } = spec;
  return { enabled, provider, secret: secretRef && (await read({ kind: 'Secret', ...secretRef })) };
}

/** As it is asked for, where that is the one whose name goes by any case: the service may show it in another. */
function named({ provider }: WebhookVerification, { provider: asked }: WebhookVerificationReplace): string {
  return asked !== undefined && [asked, provider].every(needsNoSecret) ? asked : provider;
}
