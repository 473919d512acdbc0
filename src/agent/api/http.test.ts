import { expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { refusal } from './http.ts';

const unforeseen = { cause: 'internal', message: 'something went wrong' } as const;

test('who has no descriptor for what it was asked is short of them, and not at fault', () => {
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (...line: unknown[]) => void logged.push(line) };
  const exhausted = Object.assign(new Error('connect EMFILE 127.0.0.1:1'), { code: 'EMFILE' });
  expect(refusal(exhausted, unforeseen, log)).toMatchObject({ status: 503, body: { error_code: 131 } });
  expect(logged).toEqual([]);
  expect(refusal(new Error('else'), unforeseen, log)).toMatchObject({ status: 500, body: { error_code: 130 } });
  expect(logged).toHaveLength(1);
});
