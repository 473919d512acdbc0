import { expect, test } from '@jest/globals';
import { eventTypes } from './events.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
const now = at(100).getTime();
const involvedObject = { kind: 'BotUser', name: 'b', fieldPath: 'spec.name' };

const cells = (fields: object, [type] = eventTypes) => {
  const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, ...fields };
  return Object.fromEntries(type?.columns.map(({ name, cell }) => [name, cell(event, now)]) ?? []);
};

const cases = [
  [
    'with a time only, as operators report them',
    { eventTime: at(90), involvedObject, reportingComponent: 'op', reportingInstance: 'pod' },
    {
      'Last Seen': '10s',
      'First Seen': '10s',
      Count: 1,
      Object: 'botuser/b',
      Source: 'op, pod',
      Subobject: 'spec.name',
    },
  ],
  [
    'with a series',
    { eventTime: at(40), series: { count: 5, lastObservedTime: at(95) } },
    { 'Last Seen': '5s', 'First Seen': '60s', Count: 5 },
  ],
  [
    'of the older kind',
    { firstTimestamp: at(10), lastTimestamp: at(80), count: 3, source: { component: 'c', host: 'h' }, message: ' m\n' },
    { 'Last Seen': '20s', 'First Seen': '90s', Count: 3, Source: 'c, h', Message: 'm' },
  ],
  ['with nothing', {}, { 'Last Seen': '<unknown>', Count: 1, Object: '', Source: '', Message: '', Name: 'e' }],
] as const;

test.each(cases)('events %s', (_what, fields, wanted) => {
  expect(cells(JSON.parse(JSON.stringify(fields)))).toMatchObject(wanted);
});

test('events of both groups look the same', () => {
  const times = JSON.parse(JSON.stringify({ eventTime: at(90) }));
  const shown = { ...times, regarding: involvedObject, note: 'n', reportingController: 'op', type: 'Normal' };
  const stored = { ...times, involvedObject, message: 'n', reportingComponent: 'op', type: 'Normal' };
  expect(cells(shown, eventTypes.slice(1))).toEqual(cells(stored));
});
