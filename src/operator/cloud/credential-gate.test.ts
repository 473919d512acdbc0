import { describe, expect, test } from '@jest/globals';
import { CredentialGate } from './credential-gate.ts';

function setup() {
  let time = 0;
  const gate = new CredentialGate(() => time);
  const passes = (key: string): boolean => {
    try {
      gate.enter('op', key);
      return true;
    } catch {
      return false;
    }
  };
  return {
    gate,
    passes,
    at: (ms: number) => {
      time = ms;
    },
  };
}

describe('the credential gate', () => {
  test('is open until a 401', () => {
    const { gate, passes } = setup();
    for (const status of [200, 403, 404, 429, 500]) gate.learn('k', status);
    expect(passes('k')).toBe(true);
  });

  test('a refused key fails here, another one passes', () => {
    const { gate, passes } = setup();
    gate.learn('old', 401);
    expect(() => gate.check('op', 'old')).toThrow(
      expect.objectContaining({ operation: 'op', reason: 'Unauthorized', definite: true, status: 401 }),
    );
    expect(passes('new')).toBe(true);
  });

  test('one probe passes after 10 s, then after twice as long each time, at most 5 minutes', () => {
    const { gate, passes, at } = setup();
    gate.learn('k', 401);
    let now = 0;
    for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
      at(now + seconds * 1000 - 1);
      expect(passes('k')).toBe(false);
      now += seconds * 1000;
      at(now);
      expect([passes('k'), passes('k')]).toEqual([true, false]);
      gate.learn('k', 401);
    }
  });

  test('many refusals under way at once count as one', () => {
    const { gate, passes, at } = setup();
    for (let i = 0; i < 20; i += 1) gate.learn('k', 401);
    at(10_000);
    expect(passes('k')).toBe(true);
  });

  test('asking whether it is open does not use up the probe', () => {
    const { gate, passes, at } = setup();
    gate.learn('k', 401);
    at(10_000);
    gate.check('op', 'k');
    expect(passes('k')).toBe(true);
  });

  test('any other answer to the key opens it; an answer to another key does not', () => {
    const { gate, passes } = setup();
    gate.learn('k', 401);
    gate.learn('other', 200);
    expect(passes('k')).toBe(false);
    gate.learn('k', 200);
    expect(passes('k')).toBe(true);
  });
});
