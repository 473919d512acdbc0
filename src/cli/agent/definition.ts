import type { Command } from 'commander';
import type { Definition } from '../../agent/tunnels/definition.ts';
import { parseJSON } from '../../common/http/text.ts';
import { UsageError } from '../../common/usage.ts';
import { collect } from '../flags.ts';

export interface DefinitionFlags {
  readonly name?: string;
  readonly inspect: boolean;
  readonly set?: readonly string[];
}

/** Parameters that are not for --set. */
const ownFlags: ReadonlyMap<string, string> = new Map([
  ['proto', 'the protocol'],
  ['addr', '<addr>'],
  ['name', '--name'],
  ['inspect', '--no-inspect'],
]);

/** What the commands that start a tunnel take. */
export function addDefinitionFlags(command: Command): Command {
  return command
    .argument('<addr>', 'where to forward: 8080, host:8080, or for http a URL')
    .option('--name <name>', 'default: none')
    .option('--no-inspect', 'do not capture requests')
    .option('--set <parameter=value>', 'a further parameter of the definition; repeatable', collect);
}

/** The definition of a tunnel, as yet unchecked. @throws UsageError */
export function definitionOf(proto: string, addr: string, { name, inspect, set = [] }: DefinitionFlags) {
  return {
    addr,
    proto,
    ...(name === undefined ? {} : { name }),
    ...(inspect ? {} : { inspect }),
    ...Object.fromEntries(set.map(parameter)),
  };
}

/** The definition, with what it leaves open filled in. @throws UsageError naming the flag. */
export async function checked(definition: object): Promise<Definition> {
  const [{ definitionSchema }, { explain }] = await Promise.all([
    import('../../agent/tunnels/definition.ts'),
    import('../../agent/fields.ts'),
  ]);
  const { success, data, error } = definitionSchema.safeParse(definition);
  if (success) return data;
  const fields = error.issues.map((issue) => (issue.code === 'unrecognized_keys' ? issue.keys[0] : issue.path[0]));
  const message = explain(error, definition);
  const field = String(fields.find((name) => message.includes(`"${String(name)}"`)));
  throw new UsageError(`${ownFlags.get(field) ?? `--set ${field}`}: ${message}`);
}

/** Parameters that are text, also where it reads as something else. */
const texts = ['metadata', 'subdomain', 'host_header'];

/** A value that reads as JSON is that, any other is text. */
function parameter(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set must be parameter=value, not "${text}"`);
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  const own = ownFlags.get(name);
  if (own !== undefined) throw new UsageError(`--set ${name}: that is said by ${own}`);
  const json = parseJSON(value);
  const parsed = json === undefined ? value : json;
  return [name, texts.includes(name) && typeof parsed !== 'string' ? value : parsed];
}
