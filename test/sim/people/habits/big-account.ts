import type { Act } from '../../core/story.ts';
import { byHand } from '../acts.ts';
import { keyOf } from '../cloud-keys.ts';
import { ownText, type Role } from '../content.ts';
import { type CastAccount, type CastResource, secretOf } from '../scene.ts';
import { someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const account = 'big-account';

const isOneMore = ({ name }: CastResource): boolean => name.startsWith('one-more-');

/** Nobody knows whether it was made, and to be sure that it was not is what takes so long. */
const unanswered = ({ bornAt }: CastResource): Act => ({
  ...{ at: bornAt, do: 'trouble', name: 'lost-requests', forMs: 500 },
  with: { to: 'cloud', probability: 1, broken: 1, breaksWithinMs: 1_000 },
});

export const bigAccount: Habit = {
  about: 'the account holds thousands of addresses of somebody else when new ones are made, one without an answer',
  cast: (chance, scene) => {
    const apiKeySecretRef = { name: secretOf({ name: account }), key: 'api-key' };
    const holder: CastAccount = { namespace: 'a', name: account, holds: 'big', spec: { apiKeySecretRef }, bornAt: 0 };
    const resources = Array.from({ length: 3 }, (_, index): CastResource => {
      const role: Role = { kind: 'ReservedAddr', namespace: 'a', name: `one-more-${index}`, account };
      const spec = { accountRef: { name: account }, description: ownText(role) };
      return { ...role, account, holds: 'big', spec, bornAt: someTime(chance, scene, 5_000) };
    });
    const accounts = [...scene.accounts, holder];
    // The people who made them took their time.
    return {
      ...scene,
      cloud: { ...scene.cloud, rateLimit: 0 },
      accounts,
      resources: [...scene.resources, ...resources],
    };
  },
  plan: (chance, scene) => [
    byHand(0, {
      ...{ key: keyOf('big'), method: 'POST', path: '/reserved_addrs', body: { description: 'foreign {{n}}' } },
      times: chance.pick([1_000, 2_000, 3_000]),
    }),
    ...scene.resources.filter(isOneMore).slice(0, 1).map(unanswered),
  ],
};
