import type { GroupResource } from '../api-error.ts';
import type { ResourceType } from './resource-type.ts';

/** The types that are served now: the built-in ones and those of established CustomResourceDefinitions. */
export class Registry {
  readonly #builtin: readonly ResourceType[];
  readonly #custom = new Map<string, readonly ResourceType[]>();

  constructor(builtin: readonly ResourceType[]) {
    this.#builtin = builtin;
  }

  get types(): readonly ResourceType[] {
    return [...this.#builtin, ...[...this.#custom.values()].flat()];
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.types.find((type) => type.group === group && type.version === version && type.plural === plural);
  }

  /** The type of an object that a manifest names. */
  builtin({ group, plural }: GroupResource): ResourceType {
    const found = this.#builtin.find((type) => type.group === group && type.plural === plural);
    if (found === undefined) throw new Error(`no built-in type ${plural}.${group}`);
    return found;
  }

  /** Serves `types` in place of what `crdName` defined before; an empty list ends it. */
  define(crdName: string, types: readonly ResourceType[]): void {
    if (types.length === 0) this.#custom.delete(crdName);
    else this.#custom.set(crdName, types);
  }
}
