import { z } from 'zod';
import { readBody } from './body.ts';
import { Collection, kinds } from './collection.ts';
import { flag, idOf, text, time, uri } from './fields.ts';
import { uriOf } from './ids.ts';
import type { Resource } from './resource.ts';
import type { World } from './world.ts';

export interface BotUserRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly name: string;
  readonly active: boolean;
}

const createBody = z.strictObject({ name: text, active: flag.default(true) });
const updateBody = z.strictObject({ name: text.optional(), active: flag.optional() });

const answer = z.strictObject({
  id: idOf('bot'),
  uri,
  name: text.describe('human-readable name'),
  active: flag.describe('whether the bot is active'),
  created_at: time,
});

/** Bot users: Cloud Management API, sections 2, 3 and 4. */
export function botUsers(world: World): Resource<BotUserRecord> {
  const collection = new Collection<BotUserRecord>(world.statements, kinds.botUser);
  return {
    name: 'bot_users',
    title: 'BotUser',
    collection,
    answer,
    render,
    write: {
      createBody,
      updateBody,
      create: (request) => {
        const body = readBody(createBody, request.body);
        return collection.insert(request.account, () => ({ id: world.newId('bot'), createdAt: world.now(), ...body }));
      },
      update: (request, item) => {
        const body = readBody(updateBody, request.body);
        return { ...item, name: body.name ?? item.name, active: body.active ?? item.active };
      },
    },
  };
}

function render(item: BotUserRecord, base: string): z.output<typeof answer> {
  return {
    id: item.id,
    uri: uriOf(base, item.id),
    name: item.name,
    active: item.active,
    created_at: item.createdAt,
  };
}
