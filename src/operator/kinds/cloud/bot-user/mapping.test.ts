import { describe, expect, test } from '@jest/globals';
import type { BotUser } from '../../../cloud/schemas.ts';
import { contentOf, diff, toCreate, toStatus, toUpdate } from './mapping.ts';
import { spec } from './schema.ts';

const bot: BotUser = {
  id: 'bot_1',
  uri: 'https://api.example.com/bot_users/bot_1',
  name: 'ci',
  active: true,
  created_at: '2026-01-02T03:04:05Z',
};

describe('diff', () => {
  test.each([
    ['equal', { name: 'ci' }, []],
    ['name', { name: 'cd' }, ['name']],
    ['active', { name: 'ci', active: false }, ['active']],
    ['both', { name: 'cd', active: false }, ['name', 'active']],
  ])('%s', (_why, fields, expected) => {
    expect(diff(spec.parse(fields), bot).map(({ field }) => field)).toEqual(expected);
  });
});

test('a bot user is active unless the spec says otherwise, and its content is found again', () => {
  const wanted = spec.parse({ name: 'ci' });
  expect(toCreate(wanted)).toEqual({ name: 'ci', active: true });
  expect(contentOf(wanted)).toEqual(contentOf(bot));
});

test('an update holds only the fields named', () => {
  const body = toUpdate(spec.parse({ name: 'cd', active: false }), new Set(['active']));
  expect(JSON.parse(JSON.stringify(body))).toEqual({ active: false });
});

test('status', () => expect(toStatus(bot)).toEqual({ id: bot.id, uri: bot.uri, createdAt: bot.created_at }));
