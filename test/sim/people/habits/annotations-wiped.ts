import { byHand, foreignID, manifestOf, note, replace, start, stop, wipeAnnotations } from '../acts.ts';
import { keyOf } from '../cloud-keys.ts';
import { ownText } from '../content.ts';
import { type CastResource, firstInstallation } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const imported = { kind: 'ReservedAddr', namespace: 'a', name: 'wiped-import', holds: 'main' } as const;

export const annotationsWiped: Habit = {
  about:
    'resources lose their annotations, or are replaced by manifests without these and finalizers, some while no operator runs',
  cast: (chance, scene) => {
    const bornAt = someTime(chance, { ...scene, spanMs: scene.spanMs / 2 }, 1_000);
    const spec = { description: ownText(imported), region: 'us' };
    const annotations = { [note.externalID]: foreignID(imported.name) };
    return { ...scene, resources: [...scene.resources, { ...imported, bornAt, spec, annotations }] };
  },
  plan: (chance, scene) => {
    const wipe = (at: number, resource: CastResource) => {
      const { annotations: _, ...bare } = resource;
      return chance.chance(0.5) ? replace(at, manifestOf(bare)) : wipeAnnotations(at, bare);
    };
    const own = scene.resources.find(({ name }) => name === imported.name);
    const others = chance.shuffled(scene.resources.filter((each) => each !== own)).slice(0, chance.int(1, 4));
    const { bornAt = 0 } = own ?? {};
    const call = { key: keyOf('main'), name: imported.name } as const;
    const away = Math.max(bornAt + 5_000, someTime(chance, scene, bornAt));
    const [wiped, back] = [away + 3_000, away + chance.int(4_000, 20_000)];
    return [
      byHand(bornAt - 500, {
        ...call,
        method: 'POST',
        path: '/reserved_addrs',
        body: { description: 'foreign wiped' },
      }),
      ...others.map((each) => wipe(chance.chance(0.5) ? wiped : after(chance, scene, each.bornAt, 10, 120_000), each)),
      stop(away, firstInstallation),
      ...(own === undefined ? [] : [wipe(wiped, own)]),
      start(back, firstInstallation),
      byHand(back + chance.int(5_000, 30_000), {
        key: call.key,
        method: 'DELETE',
        path: `/reserved_addrs/${foreignID(imported.name)}`,
      }),
    ];
  },
};
