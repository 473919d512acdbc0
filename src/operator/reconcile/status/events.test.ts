import { expect, test } from '@jest/globals';
import { silentLog } from '../../../common/log.ts';
import { CurrentResource } from '../resource/current-resource.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { Journal, type Recorder } from './events.ts';

const object: ManagedObject = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'BotUser',
  metadata: { name: 'a', namespace: 'ns', uid: 'u' },
  spec: {},
};

test('an event is of the resource as it is by then, a warning where somebody is to look, and counts drift', () => {
  const recorded: Parameters<Recorder['record']>[0][] = [];
  let drifts = 0;
  const resource = new CurrentResource(object, {} as never);
  const journal = new Journal(resource, {
    events: { record: (event) => recorded.push(event) },
    log: silentLog,
    onDriftCorrected: () => {
      drifts += 1;
    },
  });
  journal.event('Created', 'one');
  const written = { ...object, spec: { name: 'b' } };
  resource.take(written);
  journal.event('DriftCorrected', 'two');
  journal.event('Orphaned', 'three');
  expect(recorded.map(({ type, reason, note }) => `${type} ${reason} ${note}`)).toEqual([
    'Normal Created one',
    'Normal DriftCorrected two',
    'Warning Orphaned three',
  ]);
  expect(recorded.map(({ regarding }) => regarding)).toEqual([object, written, written]);
  expect(drifts).toBe(1);
});
