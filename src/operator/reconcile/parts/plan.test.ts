import { describe, expect, test } from '@jest/globals';
import { type PartAction, type PartSituation, planPart } from './plan.ts';

const named: PartSituation = {
  displayName: 'SAML module',
  managementPolicy: 'Manage',
  named: true,
  applied: true,
  exists: true,
  differences: [],
  setMore: false,
  refusal: undefined,
};

describe('planPart', () => {
  const cases: readonly [
    why: string,
    given: Partial<PartSituation>,
    expected: PartAction['kind'] | `stop ${string}`,
  ][] = [
    ['nothing differs', {}, 'none'],
    ['it is not there', { exists: false }, 'replace'],
    ['the spec set more', { setMore: true }, 'replace'],
    ['it differs', { differences: ['enabled'] }, 'replace'],
    ['it would be refused', { differences: ['minVersion'], refusal: 'no' }, 'stop Rejected'],
    ['it is as named: a refusal does not matter', { refusal: 'no' }, 'none'],
    ['it left the spec and is ours', { named: false }, 'delete'],
    ['it left the spec and was never ours', { named: false, applied: false }, 'none'],
    ['Observe: it is as named', { managementPolicy: 'Observe' }, 'none'],
    ['Observe: it is not there', { managementPolicy: 'Observe', exists: false }, 'stop ExternalNotFound'],
    ['Observe: it differs', { managementPolicy: 'Observe', differences: ['enabled'] }, 'stop DriftDetected'],
    ['Observe: the spec set more', { managementPolicy: 'Observe', setMore: true }, 'none'],
    ['Observe: it left the spec', { managementPolicy: 'Observe', named: false }, 'none'],
  ];
  test.each(cases)('%s', (_why, given, expected) => {
    const action = planPart({ ...named, ...given });
    expect(action.kind === 'stop' ? `stop ${action.reason}` : action.kind).toBe(expected);
  });
});
