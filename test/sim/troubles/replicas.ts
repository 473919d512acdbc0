import type { SimProcess } from '../core/process.ts';
import type { World } from '../core/world.ts';

export interface Replica {
  readonly installation: string;
  readonly index: number;
}

/** Of one installation, or of all. */
export function replicasOf({ story }: World, installation?: string): readonly Replica[] {
  return story.installations
    .filter(({ name }) => installation === undefined || name === installation)
    .flatMap(({ name, replicas = 1 }) =>
      Array.from({ length: replicas }, (_, index) => ({ installation: name, index })),
    );
}

/** `op-0` of the process `op-0.3`: the same for every process that runs in its place. */
export const replicaNameOf = ({ name }: SimProcess): string => name.replace(/\.\d+$/, '');

export const nameOf = ({ installation, index }: Replica): string => `${installation}-${index}`;
