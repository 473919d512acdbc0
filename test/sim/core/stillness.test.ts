import { expect, test } from '@jest/globals';
import type { Change } from '../../../src/reference/kube-api/store/history.ts';
import { Scheduler } from './scheduler.ts';
import { Stillness } from './stillness.ts';

const before = { kind: 'ReservedAddr', metadata: { name: 'a' }, spec: { region: 'us' }, status: {} };

test.each([
  ['what comes', 'ADDED', undefined, before, true],
  ['what goes', 'DELETED', before, before, true],
  ['another spec', 'MODIFIED', before, { ...before, spec: { region: 'eu' } }, true],
  ['another status', 'MODIFIED', before, { ...before, status: { id: 'ra_1' } }, true],
  ['what is to go', 'MODIFIED', before, { ...before, metadata: { name: 'a', deletionTimestamp: 'now' } }, true],
  ['a record', 'MODIFIED', before, { ...before, metadata: { name: 'a', annotations: { record: '1' } } }, false],
  ['a Lease', 'MODIFIED', { kind: 'Lease', spec: {} }, { kind: 'Lease', spec: { renewTime: 'now' } }, false],
  ['an Event', 'ADDED', undefined, { kind: 'Event', reason: 'Created' }, false],
])('of the stillness: %s', async (_, type, previous, current, isNews) => {
  const { scheduler, change, stillness } = still();
  await scheduler.run(600);
  change({ type, current: { object: current }, previous: previous && { object: previous } });
  await scheduler.run(1_000);
  expect(stillness.lasts(1_000)).toBe(!isNews);
  await scheduler.run(1_600);
  expect(stillness.lasts(1_000)).toBe(true);
});

test('what is tried seldom is still later', async () => {
  const { scheduler, change, stillness } = still();
  const become = (type: string, reason: string) => {
    const status = { conditions: [{ type: 'Ready', reason }] };
    change({ type, current: { object: { ...before, metadata: { name: 'a', uid: '1' }, status } } });
  };
  become('ADDED', 'Rejected');
  await scheduler.run(300_999);
  expect(stillness.lasts(1_000)).toBe(false);
  await scheduler.run(301_000);
  expect(stillness.lasts(1_000)).toBe(true);
  become('MODIFIED', 'Creating');
  await scheduler.run(302_000);
  expect(stillness.lasts(1_000)).toBe(true);
  become('MODIFIED', 'Deleting');
  become('DELETED', 'Deleting');
  await scheduler.run(303_000);
  expect(stillness.lasts(1_000)).toBe(true);
});

test('nothing is still for as long as nobody says', async () => {
  const { scheduler, stillness } = still();
  await scheduler.run(86_400_000);
  expect(stillness.lasts()).toBe(false);
});

function still() {
  const scheduler = new Scheduler();
  let tell: (change: Change) => void = () => {};
  const onChange = (listener: typeof tell) => {
    tell = listener;
    return () => {};
  };
  return {
    scheduler,
    stillness: new Stillness({ scheduler, onChange }),
    change: (change: object) => tell(change as Change),
  };
}
