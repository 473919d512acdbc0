import type { Flight } from '../../core/network.ts';
import { fieldsOf, parsed, textOf } from './json.ts';
import { perWorld, type Witness } from './witness.ts';

/** Under which names processes sign Leases. */
export class Identities {
  readonly #byProcess = new Map<string, string>();

  constructor({ network }: Witness) {
    network.sendings.add((flight) => this.#learn(flight));
    network.observers.add((flight) => this.#learn(flight));
  }

  of(process: string): string | undefined {
    return this.#byProcess.get(process);
  }

  /** Who asks for a Lease writes the name of its holder, and who holds one with others a common one. */
  #learn({ from, path, method, body }: Flight): void {
    if (method === 'GET' || !path.includes('/leases')) return;
    const holder = textOf(fieldsOf(fieldsOf(parsed(body)).spec).holderIdentity);
    if (holder === undefined || holder === '' || / shards$/.test(holder)) return;
    const isAnothers = this.#byProcess.entries().some(([process, name]) => name === holder && process !== from.name);
    if (!isAnothers) this.#byProcess.set(from.name, holder);
  }
}

export const identitiesOf = perWorld((world) => new Identities(world));
