import { edit, remove } from '../acts.ts';
import { ownText, type Role } from '../content.ts';
import { type CastAccount, type CastResource, secretOf } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const account = 'poor-account';
const users = 12;

const role = (namespace: string, name: string): Role => ({ kind: 'BotUser', namespace, name });

export const poorAccount: Habit = {
  about:
    'a dozen users wait for an account with one request a minute, beside other tenants; some are renamed or deleted meanwhile',
  cast: (chance, scene) => {
    const bornAt = Math.round(someTime(chance, scene) / 2);
    const spec = { apiKeySecretRef: { name: secretOf({ name: account }), key: 'api-key' }, requestsPerMinute: 1 };
    const holder: CastAccount = { namespace: 'a', name: account, holds: 'poor', spec, bornAt };
    const waiting = Array.from({ length: users }, (_, index): CastResource => {
      const named = role('a', `poor-${index}`);
      const own = { accountRef: { name: account }, name: ownText(named) };
      return { ...named, account, holds: 'poor', spec: own, bornAt: bornAt + index };
    });
    const other = (name: string, later: number): CastResource => {
      const named = role('b', name);
      return { ...named, holds: 'main', spec: { name: ownText(named) }, bornAt: bornAt + later };
    };
    const others = [other('rich-0', 1_000), other('rich-1', chance.int(2_000, 30_000))];
    return { ...scene, accounts: [...scene.accounts, holder], resources: [...scene.resources, ...waiting, ...others] };
  },
  plan: (chance, scene) => {
    const waiting = scene.resources.filter((each) => each.account === account);
    const { bornAt = 0 } = waiting[0] ?? {};
    const renamed = (each: CastResource) => {
      const at = after(chance, scene, bornAt, 60_000, 180_000);
      const again = at + chance.int(5_000, 60_000);
      return [edit(at, each, { name: `${ownText(each)} b` }), edit(again, each, { name: `${ownText(each)} c` })];
    };
    const richAt = Math.max(scene.spanMs, bornAt + 240_000);
    return [
      ...chance.some(waiting, 0.4).map((each) => remove(after(chance, scene, bornAt, 1_000, 120_000), each)),
      ...chance.some(waiting, 0.3).flatMap(renamed),
      edit(richAt, { kind: 'CloudAccount', namespace: 'a', name: account }, { requestsPerMinute: 120 }),
    ];
  },
};
