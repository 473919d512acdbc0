import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import type { Scene } from '../scene.ts';

/** Something that people do, again and again. */
export interface Habit {
  readonly about: string;
  /** Whom it needs beside those of the plain scene. No other habit touches them. */
  readonly cast?: (chance: Chance, scene: Scene) => Scene;
  /** What they do; the resources and accounts of the scene come to be by themselves. */
  readonly plan: (chance: Chance, scene: Scene) => readonly Act[];
  /** By `KIND/NAMESPACE/NAME`: why what it made certainly cannot be Ready in the end. */
  readonly expect?: (scene: Scene) => Readonly<Record<string, string>>;
}
