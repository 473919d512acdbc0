import { defaultSeed } from '../../reference/cloud-api/seed/default.ts';
import type { Seed } from '../../reference/cloud-api/seed/schema.ts';

const stagingEdge = 'edghts_2tGf9Sa3fXdN5vCmRb6JwTq8UzA';

/** What there is in the operator's own account, and in that of the sample CloudAccount. */
export const seeds: readonly Seed[] = [
  { ...defaultSeed, accounts: ['default'] },
  {
    accounts: ['staging'],
    https_edges: [{ id: stagingEdge }],
    endpoints: [
      {
        id: 'ep_2tGf9Te4gYeP6wDnSc7KxUr9VaB',
        public_url: 'https://shop.staging.localhost',
        proto: 'https',
        hostport: 'shop.staging.localhost:443',
        type: 'edge',
        edge: stagingEdge,
      },
    ],
  },
];
