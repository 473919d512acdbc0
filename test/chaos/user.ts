import { setTimeout as sleep } from 'node:timers/promises';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import type { World } from '../support/world.ts';
import type { Random } from './random.ts';
import type { Subject } from './subjects.ts';

export interface Actions {
  count: number;
}

/** Somebody who cannot make up their mind about one resource, and somebody else who touches what it stands for. */
export async function use(
  world: World,
  namespace: string,
  { subject, name }: { readonly subject: Subject; readonly name: string },
  { random, until, actions }: { readonly random: Random; readonly until: AbortSignal; readonly actions: Actions },
): Promise<void> {
  const apply = () => world.apply(subject.kind, namespace, name, subject.spec(name, random));
  const find = async () => (await world.list(subject.kind, namespace)).find(({ metadata }) => metadata.name === name);
  while (!until.aborted) {
    await sleep(random.between(50, 2_500));
    const object = await find();
    const act = random.next();
    actions.count++;
    if (object === undefined) await apply();
    else if (object.metadata.deletionTimestamp !== undefined) await goneThenBack(act < 0.5);
    else if (act < 0.35) await apply();
    else if (act < 0.55) await world.delete(object);
    // Faults strike this too, and the object may have gone meanwhile.
    else if (act < 0.8) await Promise.race([subject.disturb(object, random).catch(() => {}), sleep(3_000)]);
    else if (act < 0.9) await world.annotate(object, { [annotation.reconcileAt]: String(act) }).catch(() => {});
    else await pause();
  }

  /** A namesake right after the end. */
  async function goneThenBack(back: boolean): Promise<void> {
    while (!until.aborted && (await find()) !== undefined) await sleep(20);
    if (back && !until.aborted) await apply();
  }

  async function pause(): Promise<void> {
    const object = await find();
    if (object === undefined) return;
    await world.annotate(object, { [annotation.paused]: 'true' }).catch(() => {});
    await sleep(random.between(100, 2_000));
    await world.annotate(object, { [annotation.paused]: null }).catch(() => {});
  }
}
