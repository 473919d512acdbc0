import { type Call, cloudModelOf, isMutating } from './cloud-model.ts';
import { type InstallationHistory, installationsOf } from './installations.ts';
import { moduleOwnershipOf } from './module-ownership.ts';
import { ownershipOf } from './ownership.ts';
import type { Resource } from './resource.ts';
import { perWorld, type Span, type Witness } from './witness.ts';

/** A call of an operator that changes the cloud, with whose the thing was that it changes. */
export interface Mutation {
  readonly call: Call;
  readonly installation: InstallationHistory;
  /** What the operator may have gone by. */
  readonly span: Span;
  /** Of an object: those that may have it changed. Of a module: those that name it, or did. */
  readonly owners: readonly Resource[];
  /** Of a module: the one that had it, and the one whose spec asks for what was put there. */
  readonly owner: Resource | undefined;
  readonly author: Resource | undefined;
}

/** Tells of every mutation, once all that happened at its moment is known. */
export class Mutations {
  readonly listeners = new Set<(mutation: Mutation) => void>();
  readonly #world: Witness;
  #calls: Call[] = [];

  constructor(world: Witness) {
    this.#world = world;
    // They have to see everything from the beginning, and each moment before this does.
    ownershipOf(world);
    moduleOwnershipOf(world);
    cloudModelOf(world).calls.add((call) => {
      if (call.installation === undefined || !isMutating(call)) return;
      this.#calls.push(call);
      if (this.#calls.length === 1) world.scheduler.after(0, () => this.#tell());
    });
  }

  #tell(): void {
    const calls = this.#calls;
    this.#calls = [];
    for (const call of calls) {
      const mutation = this.#mutation(call);
      if (mutation === undefined) continue;
      for (const listen of this.listeners) listen(mutation);
    }
  }

  #mutation(call: Call): Mutation | undefined {
    const installation = installationsOf(this.#world).get(call.installation ?? '');
    if (installation === undefined) return undefined;
    const modules = moduleOwnershipOf(this.#world);
    const span = modules.spanAt(call.sentAt);
    const common = { call, installation, span };
    if (call.target.kind !== 'module') {
      const { thing } = call;
      const isNew = call.target.kind === 'list';
      const owners = thing === undefined || isNew ? [] : ownershipOf(this.#world).owners(thing, installation, span);
      return { ...common, owners, owner: undefined, author: undefined };
    }
    const owners = modules.claimants(call.path, call.account, installation, span);
    const owner = call.thing && modules.ownerOf(call.thing, call.sentAt);
    const author = call.method === 'PUT' ? modules.attribute(call, installation) : undefined;
    return { ...common, owners, owner, author };
  }
}

export const mutationsOf = perWorld((world) => new Mutations(world));

/** As people read it. */
export function told({ method, path, process, status }: Pick<Call, 'method' | 'path' | 'process' | 'status'>): string {
  return `${method} ${path} by ${process} (${status})`;
}
