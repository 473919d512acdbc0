import { z } from 'zod';
import { readBody } from './body.ts';
import { Collection } from './collection.ts';
import { flag, text } from './fields.ts';
import { kinds } from './kinds.ts';
import { uriOf } from './ref.ts';
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

/** Bot users: reference sections 2, 3 and 4. */
export function botUsers(world: World): Resource<BotUserRecord> {
  const collection = new Collection<BotUserRecord>(world.database, kinds.botUser);
  return {
    name: 'bot_users',
    collection,
    render,
    write: {
      create: (call) => {
        const body = readBody(createBody, call.body);
        return collection.insert(call.account, () => ({ id: world.newId('bot'), createdAt: world.now(), ...body }));
      },
      update: (call, item) => {
        const body = readBody(updateBody, call.body);
        return { ...item, name: body.name ?? item.name, active: body.active ?? item.active };
      },
    },
  };
}

function render(item: BotUserRecord, base: string): unknown {
  return {
    id: item.id,
    uri: uriOf(base, item.id),
    name: item.name,
    active: item.active,
    created_at: item.createdAt,
  };
}
