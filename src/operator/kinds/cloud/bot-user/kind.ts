import type { CloudClient } from '../../../cloud/client.ts';
import type { BotUser } from '../../../cloud/schemas.ts';
import { externalKind } from '../../../reconcile/external/kind.ts';
import { contentOf, diff, toCreate, toStatus, toUpdate } from './mapping.ts';
import { definition, type Spec, spec } from './schema.ts';

/** Bot users (Cloud Management API, sections 2 and 4). */
export const botUser = externalKind<Spec, BotUser, CloudClient>(definition, {
  displayName: 'bot user',
  spec,
  identity: (bot) => ({ id: bot.id, createdAt: bot.created_at }),
  content: contentOf,
  contentOf,
  diff,
  status: toStatus,
  get: (cloud, id, call) => cloud.botUsers.get(id, call),
  list: (cloud, call, onOdd) => cloud.botUsers.listAll(call, { onOdd }),
  create: (cloud, wanted, call) => cloud.botUsers.create(toCreate(wanted), call),
  update: (cloud, id, wanted, fields, call) => cloud.botUsers.update(id, toUpdate(wanted, fields), call),
  delete: (cloud, id, call) => cloud.botUsers.delete(id, call),
});
