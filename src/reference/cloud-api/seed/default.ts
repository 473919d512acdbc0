import type { Seed } from './schema.ts';

/** What there is to try things on when no seed file is given. */
export const defaultSeed: Seed = {
  endpoint_configurations: ['ec_2tGf0Lr8nJtR4cYqVb7WmXz1KpA', 'ec_2tGf0Qd3hSxN6uEoZk9PwTj5MvB'],
  ip_policies: ['ipp_2tGf1Bc7kHqY3mUsDx8RnVg4JwA', 'ipp_2tGf1Ft2pLzW9aKiQe5YhCb6NsB'],
  certificate_authorities: ['ca_2tGf2Ek6rMvC1oXgTj4ZsPd8QuA', 'ca_2tGf2Hn9yBwK7lDfUq3VaJx5RmB'],
  reserved_domains: ['rd_2tGf3Gm5tQxE8iNcWz1AkFs7LpA'],
  https_edges: [
    { id: 'edghts_2tGf4Jp4vSyG6bHdXo9CmRu3KwA', routes: ['edghtsrt_2tGf5Lq3wUzJ5eFaYi8DnTv2MxA'] },
    {
      id: 'edghts_2tGf4Nr2xWaL4gCzZk7EpVw1OyB',
      terminate_at: 'upstream',
      routes: ['edghtsrt_2tGf5Ps1yXbN3hBxAm6FqXz9QzB'],
    },
  ],
  tls_edges: ['edgtls_2tGf6Rt9zYcP2jAwBn5GrYa8SbA'],
  endpoints: [
    {
      id: 'ep_2tGf7Tu8aZdR1kZvCo4HsZb7UcA',
      public_url: 'https://shop.edge.localhost',
      proto: 'https',
      hostport: 'shop.edge.localhost:443',
      type: 'edge',
      metadata: '{"team":"shop"}',
      domain: 'rd_2tGf3Gm5tQxE8iNcWz1AkFs7LpA',
      edge: 'edghts_2tGf4Jp4vSyG6bHdXo9CmRu3KwA',
    },
    {
      id: 'ep_2tGf7Vv7bAeT9lYuDp3ItAc6WdB',
      region: 'eu',
      public_url: 'tls://mail.edge.localhost:443',
      proto: 'tls',
      hostport: 'mail.edge.localhost:443',
      type: 'edge',
      edge: 'edgtls_2tGf6Rt9zYcP2jAwBn5GrYa8SbA',
    },
    {
      id: 'ep_2tGf7Xw6cBfV8mXtEq2JuBd5YeC',
      public_url: 'tcp://1.tcp.us.localhost:10001',
      proto: 'tcp',
      hostport: '1.tcp.us.localhost:10001',
      type: 'ephemeral',
      tunnel: 'tn_2tGf8Zx5dCgX7nWsFr1KvCe4AfA',
    },
  ],
};
