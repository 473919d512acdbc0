import type { BotUser, BotUserCreate, BotUserUpdate } from '../../../cloud/schemas.ts';
import type { Difference, Json } from '../../../reconcile/external/contract.ts';
import type { Spec, Status } from './schema.ts';

export function toCreate({ name, active }: Spec): BotUserCreate {
  return { name, active };
}

export function contentOf({ name, active }: BotUser | Spec): Json {
  return { name, active };
}

export function toUpdate(spec: Spec, fields: ReadonlySet<string>): BotUserUpdate {
  return {
    name: fields.has('name') ? spec.name : undefined,
    active: fields.has('active') ? spec.active : undefined,
  };
}

export function diff(spec: Spec, bot: BotUser): readonly Difference[] {
  return (['name', 'active'] as const).filter((field) => spec[field] !== bot[field]).map((field) => ({ field }));
}

export function toStatus(bot: BotUser): Omit<Status, 'conditions' | 'observedGeneration'> {
  return { id: bot.id, uri: bot.uri, createdAt: bot.created_at };
}
