import { z } from 'zod';
import type { Flight } from '../../core/network.ts';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { ms, options } from '../options.ts';
import { lasting } from '../plan.ts';

const schema = options({
  /** After its beginning; default at its end. */
  afterMs: ms.optional(),
  /** How much higher revisions go on than they were in the backup. */
  bump: z.int().min(0).default(0),
  /** How long no API server is up: all of them are stopped while a backup is restored. */
  downMs: ms.default(2_000),
});

const down = ({ to }: Flight) => (to.name === 'kube' ? { refused: true } : undefined);

const begin: Trouble = (world, given, forMs) => {
  const { afterMs = forMs, bump, downMs } = schema.parse(given);
  const backup = world.kube.snapshot();
  let isDone = false;
  const restore = () => {
    if (isDone) return;
    isDone = true;
    world.trace.add('kube', `is restored from a backup of revision ${backup.revision}`);
    world.kube.restore(backup, bump);
    world.network.rules.add(down);
    world.scheduler.after(downMs, () => world.network.rules.delete(down));
  };
  const cancel = world.scheduler.after(afterMs, restore);
  return () => {
    cancel();
    restore();
  };
};

export const kubeRestored: TroubleKind = {
  about: 'Kubernetes is away for a while, and comes back from a backup of when this began',
  begin,
  plan: (chance) =>
    lasting(chance, [1, 300], {
      bump: chance.pick([0, 1_000_000, 1_000_000]),
      // Long enough that whoever leads has given up, and a watch that ended is not resumed before anybody noticed.
      downMs: chance.pick([15_000, 15_000, 40_000]),
    }),
};
