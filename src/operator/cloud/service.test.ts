import { describe, expect, test } from '@jest/globals';
import { errorBody } from './service.ts';

const nothing = { messages: [], requestIDs: [] };

test('an error body says a code, a message, and ids of the request', () => {
  const body = { error_code: 'ERR_EDGE_120', msg: 'm', details: { operation_id: 'op_1', request_id: 'r', other: 5 } };
  expect(errorBody(body)).toEqual({ code: 'ERR_EDGE_120', messages: ['m'], requestIDs: ['op_1', 'r'] });
  expect(errorBody({ details: { operation_id: 5 } })).toEqual(nothing);
});

describe('the code of an error body', () => {
  test.each(['ERR_EDGE_120', 'ERR_A_1'])('%s is one', (code) => {
    expect(errorBody({ error_code: code })).toEqual({ ...nothing, code });
  });

  test.each(['', 'not-found', 'a.b', 'err_edge_1', 'ERR_EDGE_1234567', `ERR_${'A'.repeat(25)}_1`, 'two words', '<b>'])(
    '"%s" is none',
    (code) => {
      expect(errorBody({ error_code: code })).toEqual(nothing);
    },
  );
});

test.each([undefined, null, 'text', 5, []])('%p says nothing', (body) => {
  expect(errorBody(body)).toEqual(nothing);
});
