import type { Chance } from '../core/random.ts';
import type { World } from '../core/world.ts';

/** Calls `what` again and again, about `everyMs` apart, until the function that it returns is called. */
export function again(
  { scheduler }: World,
  everyMs: number,
  chance: Chance,
  what: (chance: Chance) => void,
): () => void {
  let cancel = () => {};
  const wait = (nth: number) => {
    const moment = chance.of('moment', nth);
    cancel = scheduler.after(everyMs * moment.between(0.5, 1.5), () => {
      wait(nth + 1);
      what(moment);
    });
  };
  wait(0);
  return () => cancel();
}
