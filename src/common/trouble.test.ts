import { expect, test } from '@jest/globals';
import { type Log, type LogFields, silentLog } from './log.ts';
import { Trouble } from './trouble.ts';

function setup() {
  const lines: [level: string, message: string, fields: LogFields | undefined][] = [];
  const log: Log = {
    ...silentLog,
    info: (message, fields) => lines.push(['info', message, fields]),
    warn: (message, fields) => lines.push(['warn', message, fields]),
  };
  let now = 0;
  const trouble = new Trouble(log, { now: () => now });
  return { lines, trouble, pass: (seconds: number) => (now += seconds * 1_000) };
}

test('an hour of failures is a line at its beginning, one in five minutes, and one at its end', () => {
  const { lines, trouble, pass } = setup();
  for (let i = 0; i < 1_800; i += 1) {
    trouble.failed('no answer', { error: 'refused' });
    pass(2);
  }
  trouble.over('answers again');
  expect(lines[0]).toEqual(['warn', 'no answer', { error: 'refused' }]);
  expect(lines[1]).toEqual(['warn', 'no answer', { error: 'refused', failures: 151, forSeconds: 300 }]);
  expect(lines).toHaveLength(1 + 11 + 1);
  expect(lines.at(-1)).toEqual(['info', 'answers again', { failures: 1_800, forSeconds: 3_600 }]);
});

test('what never failed is not over', () => {
  const { lines, trouble } = setup();
  trouble.over('answers again');
  expect(lines).toEqual([]);
});

test('a failure is of its own time, and not of one of which nothing was told', () => {
  const { lines, trouble, pass } = setup();
  for (const seconds of [60, 3_600, 10]) {
    trouble.failed('no answer');
    trouble.over('answers again');
    pass(seconds);
  }
  expect(lines.slice(2)).toEqual([
    ['warn', 'no answer', {}],
    ['info', 'answers again', { failures: 1, forSeconds: 0 }],
  ]);
});

test('what comes and goes has a beginning and an end in five minutes', () => {
  const { lines, trouble, pass } = setup();
  for (let i = 0; i < 600; i += 1) {
    trouble.failed('no answer');
    trouble.over('answers again');
    pass(1);
  }
  expect(lines.map(([level]) => level)).toEqual(['warn', 'info', 'warn', 'info']);
  expect(lines.at(-1)?.[2]).toEqual({ failures: 300, forSeconds: 299 });
});
