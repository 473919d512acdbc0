import { isList, isMap } from '../json.ts';

const step =
  /\.(?<name>[A-Za-z0-9_$-]+)|\['(?<quoted>[^']+)'\]|\[(?<index>-?\d+)\]|\[(?<all>\*)\]|\[\?\(@\.(?<field>[\w.-]+)\s*==\s*(?<value>"[^"]*"|'[^']*'|[\w.-]+)\)\]|\.(?<star>\*)/gy;

/** The values at a Kubernetes JSONPath such as `.status.conditions[?(@.type=="Ready")].status`; none when it leads nowhere. */
export function readJsonPath(root: unknown, path: string): readonly unknown[] {
  let values: readonly unknown[] = [root];
  for (const { groups } of path.replaceAll('\\.', '\u0000').matchAll(step)) {
    values = values.flatMap((value) => follow(value, groups ?? {})).filter((value) => value !== undefined);
  }
  return values;
}

function follow(value: unknown, groups: Readonly<Record<string, string | undefined>>): readonly unknown[] {
  const name = (groups.name ?? groups.quoted)?.replaceAll('\u0000', '.');
  if (name !== undefined) return isMap(value) ? [value[name]] : [];
  if (groups.all !== undefined || groups.star !== undefined)
    return isList(value) ? value : isMap(value) ? Object.values(value) : [];
  if (!isList(value)) return [];
  if (groups.index !== undefined) return [value.at(Number(groups.index))];
  const wanted = groups.value?.replace(/^(["'])(.*)\1$/, '$2');
  return value.filter((item) => String(readJsonPath(item, `.${groups.field}`)[0]) === wanted);
}
