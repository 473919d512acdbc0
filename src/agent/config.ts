import { z } from 'zod';
import { baseURLProblem } from '../common/http/url.ts';
import { addressForm, parseAddress } from '../common/listen.ts';
import { UsageError } from '../common/usage.ts';
import { parseYaml } from '../common/yaml.ts';
import { explain } from './fields.ts';
import { type Definition, definitionSchema } from './tunnels/definition.ts';

const text = z.string({ error: 'must be a string' });

/** Port 0 takes a free one. */
const address = text.transform((value, context) => {
  const parsed = parseAddress(value);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: 'custom', message: `must be ${addressForm}` });
  return z.NEVER;
});

const hostName = text.regex(/^(\*\.)?[^\s:/*]+$/, { error: 'must be a host name without port, or *.name' });

const cloudURL = text.refine((value) => baseURLProblem(value) === undefined, {
  error: ({ input }) => baseURLProblem(String(input)),
});

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
    tunnels: z.record(text, z.unknown(), { error: 'must be a map of tunnels by name' }).default({}),
  },
  { error: 'must be a map of settings' },
);

/** The settings of an agent; docs/agent.md explains them. */
export interface AgentConfig extends Omit<z.output<typeof configSchema>, 'tunnels'> {
  /** Started with the agent, in this order. */
  readonly tunnels: readonly Definition[];
}

/** @throws UsageError naming the field. */
export function readConfig(value: unknown): AgentConfig {
  const given = withoutNulls(value ?? {});
  const parsed = configSchema.safeParse(given);
  if (!parsed.success) throw new UsageError(explain(parsed.error, given));
  const { tunnels, ...settings } = parsed.data;
  return { ...settings, tunnels: Object.entries(tunnels).map(([name, tunnel]) => readTunnel(name, tunnel)) };
}

/** `agent.yml`. @throws UsageError */
export function parseConfig(yaml: string): unknown {
  try {
    return parseYaml(yaml, { merges: true });
  } catch (error) {
    throw new UsageError(`not valid YAML: ${(error as Error).message}`, { cause: error });
  }
}

function readTunnel(name: string, tunnel: unknown): Definition {
  const refused = (problem: string) => new UsageError(`tunnels.${name}: ${problem}`);
  if (typeof tunnel !== 'object' || tunnel === null) throw refused('must be a map of parameters');
  if ('name' in tunnel) throw refused('unknown field "name": the tunnel is named by its key');
  const named = { ...withoutNulls(tunnel), name };
  const parsed = definitionSchema.safeParse(named);
  if (parsed.success) return parsed.data;
  throw refused(explain(parsed.error, named));
}

/** YAML reads a key that nothing follows as null: it is as if it were not there. */
function withoutNulls<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) as T;
}
