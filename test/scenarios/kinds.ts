/** What the conformance suite must know of a kind; a row for each. */
export interface KindCase {
  readonly kind: string;
  /** Collection in the cloud API. */
  readonly path: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The body of the one POST that the spec makes. */
  readonly created: Readonly<Record<string, unknown>>;
  /** A change of each field that can be changed: new value, and the body of the one PATCH it makes. */
  readonly changes: readonly {
    readonly field: string;
    readonly value: unknown;
    readonly patched: Readonly<Record<string, unknown>>;
  }[];
  /** A change made behind the operator's back, the field it is seen in, and the PATCH that puts it back. */
  readonly drift: {
    readonly body: Readonly<Record<string, unknown>>;
    readonly field: string;
    readonly patched: Readonly<Record<string, unknown>>;
  };
  /** Status fields, and what they are in the cloud's answer. */
  readonly status: (external: Record<string, string>) => Readonly<Record<string, unknown>>;
}

/** Seeded into the cloud, because the API cannot create it. */
export const endpointConfiguration = 'ec_2scenarioScenarioScenario0001';

export const kindCases: readonly KindCase[] = [
  {
    kind: 'ReservedAddr',
    path: '/reserved_addrs',
    spec: { description: 'a database', metadata: '{"team":"ü"}', region: 'eu' },
    created: { description: 'a database', metadata: '{"team":"ü"}', region: 'eu' },
    changes: [
      { field: 'description', value: 'another', patched: { description: 'another' } },
      { field: 'metadata', value: 'm2', patched: { metadata: 'm2' } },
      {
        field: 'endpointConfigurationID',
        value: endpointConfiguration,
        patched: { endpoint_configuration_id: endpointConfiguration },
      },
    ],
    drift: { body: { description: 'drifted' }, field: 'description', patched: { description: 'a database' } },
    status: (addr) => ({
      id: addr.id,
      uri: addr.uri,
      addr: addr.addr,
      host: addr.addr?.split(':')[0],
      port: Number(addr.addr?.split(':')[1]),
      region: 'eu',
      createdAt: addr.created_at,
    }),
  },
  {
    kind: 'BotUser',
    path: '/bot_users',
    spec: { name: 'deployer', active: true },
    created: { name: 'deployer', active: true },
    changes: [
      { field: 'name', value: 'renamed', patched: { name: 'renamed' } },
      { field: 'active', value: false, patched: { active: false } },
    ],
    drift: { body: { active: false }, field: 'active', patched: { active: true } },
    status: (bot) => ({ id: bot.id, uri: bot.uri, createdAt: bot.created_at }),
  },
];
