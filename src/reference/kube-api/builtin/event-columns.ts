import { mapOf } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { age } from '../presentation/age.ts';
import { fieldColumn, nameColumn } from '../presentation/columns.ts';
import type { Column } from '../types/resource-type.ts';

const wide = { priority: 1 };

const firstSeen = ({ firstTimestamp, eventTime }: ApiObject) => firstTimestamp ?? eventTime;

const lastSeen = (event: ApiObject) => mapOf(event.series).lastObservedTime ?? event.lastTimestamp ?? firstSeen(event);

const count = (event: ApiObject) => mapOf(event.series).count ?? event.count ?? 1;

/** What `kubectl get events` shows of a core event. */
export const eventColumns: readonly Column[] = [
  { name: 'Last Seen', type: 'string', cell: (event, now) => age(lastSeen(event), now) },
  fieldColumn('Type', '.type'),
  fieldColumn('Reason', '.reason'),
  { name: 'Object', type: 'string', cell: subject },
  { ...fieldColumn('Subobject', '.involvedObject.fieldPath'), ...wide },
  { name: 'Source', type: 'string', ...wide, cell: source },
  { name: 'Message', type: 'string', cell: ({ message }) => String(message ?? '').trim() },
  { name: 'First Seen', type: 'string', ...wide, cell: (event, now) => age(firstSeen(event), now) },
  { name: 'Count', type: 'integer', ...wide, cell: count },
  { ...nameColumn, ...wide },
];

function subject(event: ApiObject): string {
  const { kind, name } = mapOf(event.involvedObject);
  return [String(kind ?? '').toLowerCase(), name].filter(Boolean).join('/');
}

function source(event: ApiObject): string {
  const { component, host } = mapOf(event.source);
  return [component || event.reportingComponent, host || event.reportingInstance].filter(Boolean).join(', ');
}
