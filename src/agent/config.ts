import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { explain } from './fields.ts';
import { cloudURLForm, isCloudURL } from './leases/cloud-url.ts';
import { type Definition, definitionSchema } from './tunnels/definition.ts';

const text = z.string({ error: 'must be a string' });

/** `host:port`, `[v6]:port` or `:port` (every interface); port 0 takes a free one. */
const address = text.transform((value, context) => {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3] ?? Number.NaN);
  if (match !== null && port <= 65_535) return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
  context.addIssue({ code: 'custom', message: 'must be host:port' });
  return z.NEVER;
});

const hostName = text.regex(/^(\*\.)?[^\s:/*]+$/, { error: 'must be a host name without port, or *.name' });

const cloudURL = text.refine(isCloudURL, { error: `must be ${cloudURLForm}` });

const configSchema = z.strictObject(
  {
    web_addr: address.prefault('127.0.0.1:4040'),
    web_allow_hosts: z.array(hostName, { error: 'must be a list of host names' }).default([]),
    edge_addr: address.prefault('127.0.0.1:0'),
    inspect_db_size: z
      .int({ error: 'must be a whole number of bytes' })
      .min(-1, { error: 'must be at least -1' })
      .default(0),
    region: text.min(1, { error: 'must not be empty' }).default('us'),
    cloud_url: cloudURL.optional(),
    api_key_file: text.min(1, { error: 'must not be empty' }).optional(),
    tunnels: z.record(text, z.unknown()).default({}),
  },
  { error: 'must be a map of settings' },
);

/** The settings of an agent; docs/agent.md explains them. */
export interface AgentConfig extends Omit<z.output<typeof configSchema>, 'tunnels'> {
  /** Started with the agent, in this order. */
  readonly tunnels: readonly Definition[];
}

/** Settings that cannot be used; the message is one line that names the field. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** @throws ConfigError */
export function readConfig(value: unknown): AgentConfig {
  const parsed = configSchema.safeParse(value ?? {});
  if (!parsed.success) throw new ConfigError(explain(parsed.error, value));
  const { tunnels, ...settings } = parsed.data;
  return { ...settings, tunnels: Object.entries(tunnels).map(([name, tunnel]) => readTunnel(name, tunnel)) };
}

/** `agent.yml`. @throws ConfigError */
export function parseConfig(yaml: string): unknown {
  try {
    return parse(yaml);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw new ConfigError(`not valid YAML: ${error.message.split('\n')[0]}`, { cause: error });
  }
}

function readTunnel(name: string, tunnel: unknown): Definition {
  const named = typeof tunnel === 'object' && tunnel !== null ? { ...tunnel, name } : tunnel;
  const parsed = definitionSchema.safeParse(named);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`tunnels.${name}: ${explain(parsed.error, named)}`);
}
