import { isMap, mapOf, omit } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { Structural } from '../schema/structural.ts';
import { builtinType } from './builtin-type.ts';
import { eventColumns } from './event-columns.ts';
import { withMicroTimes } from './lease.ts';
import { integer, microTime, object, objectSchema, string, time } from './schemas.ts';

const storage = '/events';

const reference: Structural = {
  ...object('Names an object.', {
    apiVersion: string('API version of the object.'),
    kind: string('Kind of the object.'),
    namespace: string('Namespace of the object.'),
    name: string('Name of the object.'),
    uid: string('UID of the object.'),
    resourceVersion: string('Version of the object.'),
    fieldPath: string('A part of the object.'),
  }),
  'x-kubernetes-map-type': 'atomic',
};
const series = object('How often the event was seen.', {
  count: integer('How often.'),
  lastObservedTime: microTime('When last.'),
});
const source = object('The component that reported the event.', {
  component: string('Name of the component.'),
  host: string('Node of the component.'),
});
const shared = {
  eventTime: microTime('When the event was first seen.'),
  series,
  reportingInstance: string('Which instance of the controller reported it.'),
  action: string('What was done.'),
  reason: string('Why, in one word.'),
  type: string('Normal or Warning.'),
  related: reference,
};

const emptyTimes = { firstTimestamp: null, lastTimestamp: null, eventTime: null };
const emptyCore = { ...emptyTimes, source: {}, reportingComponent: '', reportingInstance: '' };
const emptyNew = {
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
  deprecatedSource: {},
  eventTime: null,
};

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const coreEvent = builtinType({
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  shortNames: ['ev'],
  storage,
  schema: objectSchema('Event is a report of an event somewhere in the cluster.', {
    ...shared,
    involvedObject: { ...reference, description: 'The object that the event is about.' },
    message: string('For people.'),
    source,
    firstTimestamp: time('When first seen.'),
    lastTimestamp: time('When last seen.'),
    count: integer('How often it was seen.'),
    reportingComponent: string('Name of the controller that reported it.'),
  }),
  allColumns: eventColumns,
  selectableFields: [
    ...involved.map((field) => `involvedObject.${field}`),
    'reason',
    'type',
    'reportingComponent',
    'source',
  ],
  behaviour: { prepare: prepareCore, emptyObject: emptyCore },
});

function prepareCore(given: ApiObject): ApiObject {
  const event = withMicroTimes('Event', given, ['eventTime']);
  return {
    ...event,
    ...(isMap(event.series) ? { series: withMicroTimes('Event', event.series, ['lastObservedTime']) } : {}),
    involvedObject: mapOf(event.involvedObject),
    source: mapOf(event.source),
    firstTimestamp: event.firstTimestamp ?? null,
    lastTimestamp: event.lastTimestamp ?? null,
    eventTime: event.eventTime ?? null,
    reportingComponent: event.reportingComponent ?? '',
    reportingInstance: event.reportingInstance ?? '',
  };
}

/** Names of the same field in events.k8s.io/v1 and in the stored core shape. */
const renamed = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
] as const;

function rename(event: ApiObject, apiVersion: string, pairs: readonly (readonly [string, string])[]): ApiObject {
  const moved = pairs.filter(([from]) => event[from] !== undefined).map(([from, to]) => [to, event[from]]);
  const rest = omit(event, ...pairs.map(([from]) => from));
  return { ...rest, ...Object.fromEntries(moved), apiVersion };
}

const newEvent = builtinType({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  shortNames: ['ev'],
  storage,
  schema: objectSchema('Event is a report of an event somewhere in the cluster.', {
    ...shared,
    regarding: { ...reference, description: 'The object that the event is about.' },
    note: string('For people.'),
    reportingController: string('Name of the controller that reported it.'),
    deprecatedSource: source,
    deprecatedFirstTimestamp: time('When first seen.'),
    deprecatedLastTimestamp: time('When last seen.'),
    deprecatedCount: integer('How often it was seen.'),
  }),
  allColumns: eventColumns.map((column) => ({
    ...column,
    cell: (event, now) => column.cell(rename(event, 'v1', renamed), now),
  })),
  selectableFields: [...involved.map((field) => `regarding.${field}`), 'reason', 'type', 'reportingController'],
  behaviour: {
    emptyObject: emptyNew,
    prepare: (event) => {
      const core = prepareCore(rename(event, 'v1', renamed));
      return fromCore(core);
    },
    toStored: (event) => prepareCore(rename(event, 'v1', renamed)),
    fromStored: fromCore,
  },
});

function fromCore(event: ApiObject): ApiObject {
  const shown = rename(
    event,
    'events.k8s.io/v1',
    renamed.map(([shownName, stored]) => [stored, shownName]),
  );
  const empty = ['reportingController', 'reportingInstance'].filter((field) => shown[field] === '');
  return omit(shown, ...empty);
}

export const eventTypes = [coreEvent, newEvent];
