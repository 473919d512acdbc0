import { union } from './field-set.ts';
import { identityOf, type Manager, type Managers } from './managers.ts';

const mostUpdaters = 10;

/** No more than ten managers that update: of those that wrote longest ago one is made for each version. */
export function withoutAncient(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { entry }]) => entry.operation === 'Update').sort(byTime);
  const left = new Map(managers);
  const oldest = new Map<string, string>();
  let excess = updaters.length - mostUpdaters;
  for (const [id, manager] of updaters) {
    if (excess <= 0) break;
    const { apiVersion = '' } = manager.entry;
    const other = oldest.get(apiVersion);
    if (other === undefined) {
      oldest.set(apiVersion, id);
      continue;
    }
    putTogether(left, other, id);
    excess -= 1;
  }
  return left;
}

/** Under the time of the later one. */
function putTogether(managers: Map<string, Manager>, oldest: string, id: string): void {
  const later = managers.get(id);
  if (later === undefined) return;
  const { subresource: _, ...entry } = { ...later.entry, manager: 'ancient-changes' };
  const bucket = identityOf(entry);
  const first = managers.has(bucket) ? bucket : oldest;
  const set = union(managers.get(first)?.set ?? later.set, later.set);
  managers.delete(first);
  managers.delete(id);
  managers.set(bucket, { entry, set });
}

function byTime([idA, a]: readonly [string, Manager], [idB, b]: readonly [string, Manager]): number {
  const [one, other] = [a, b].map(({ entry }) => entry.time ?? '') as [string, string];
  if (one === other) return idA < idB ? -1 : 1;
  return one < other ? -1 : 1;
}
