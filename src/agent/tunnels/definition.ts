import { z } from 'zod';
import { explain } from '../fields.ts';
import { AgentProblem } from '../problem.ts';
import { parseUpstream } from './upstream.ts';

const nameLimit = 256;
const metadataLimitBytes = 4_096;

const text = z.string({ error: 'must be a string' });
const flag = z.boolean({ error: 'must be true or false' });

const name = text.refine(isUsableName, {
  error: `must be at most ${nameLimit} characters, without control characters, and neither "." nor ".."`,
});

/** A port alone may be written as a number, as YAML reads it. */
const addr = z.union([text, z.int()], { error: 'must be a string' }).transform(String);
const httpAddr = addr.refine((value) => parseUpstream(value, 'http') !== undefined, {
  error: 'must be a port, host:port, or an http or https URL without path',
});
const tcpAddr = addr.refine((value) => parseUpstream(value, 'tcp') !== undefined, {
  error: 'must be a port or host:port',
});

/** What the cloud takes of an endpoint. */
const metadata = text.refine((value) => Buffer.byteLength(value) <= metadataLimitBytes, {
  error: `must be at most ${metadataLimitBytes} bytes of UTF-8`,
});

const common = { name: name.default(''), metadata: metadata.optional() };

const http = z.strictObject({
  ...common,
  proto: z.literal('http'),
  addr: httpAddr,
  inspect: flag.default(true),
  host_header: text.regex(/^[\x21-\x7e]+$/, { error: 'must be "rewrite", "preserve" or a host' }).optional(),
  subdomain: text.regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, { error: 'must be a host name label' }).optional(),
  verify_upstream_tls: flag.optional(),
});

const remotePort = 'must be a whole number from 0 to 65535';

const passedThrough = {
  ...common,
  addr: tcpAddr,
  inspect: flag.default(false),
  remote_port: z.int({ error: remotePort }).min(0, remotePort).max(65_535, remotePort).optional(),
};

export const definitionSchema = z.discriminatedUnion(
  'proto',
  [
    http,
    z.strictObject({ ...passedThrough, proto: z.literal('tcp') }),
    z.strictObject({ ...passedThrough, proto: z.literal('tls') }),
  ],
  { error: 'must be one of http, tcp, tls' },
);

/** A tunnel as the configuration file and POST /api/tunnels define it; docs/agent.md lists the fields. */
export type Definition = z.output<typeof definitionSchema>;
export type HttpDefinition = Extract<Definition, { proto: 'http' }>;
export type PassedThroughDefinition = Exclude<Definition, HttpDefinition>;

/** @throws AgentProblem naming the first field that is unknown, missing or invalid. */
export function readDefinition(body: unknown): Definition {
  const parsed = definitionSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new AgentProblem('definitionInvalid', explain(parsed.error, body));
}

/** URLs cannot hold the two dot segments. */
function isUsableName(value: string): boolean {
  return value.length <= nameLimit && value !== '.' && value !== '..' && !/\p{Cc}|\p{Cs}/u.test(value);
}
