import { type Call, cloudModelOf, isMutating } from './cloud-model.ts';
import { perWorld, type Witness } from './witness.ts';

/** What the service refused last, of each thing that can be asked of it, unless it took it since. */
export class Refusals {
  /** Bodies. */
  readonly #last = new Map<string, string>();

  constructor(world: Witness) {
    cloudModelOf(world).calls.add((call) => {
      if (!isMutating(call) || call.installation === undefined) return;
      const key = keyOf(call);
      if (call.status >= 400 && call.status < 500 && call.status !== 429) this.#last.set(key, call.flight.body ?? '');
      else if (call.status < 300) this.#last.delete(key);
    });
  }

  /** Bodies of creates in a collection that were refused. */
  get creates(): readonly string[] {
    return [...this.#last].filter(([key]) => key.startsWith('POST ')).map(([, body]) => body);
  }

  /** Bodies of changes of that path that were refused, empty where they have none. */
  of(account: string | undefined, path: string): readonly string[] {
    return ['PUT', 'PATCH', 'DELETE'].flatMap((method) => this.#last.get(`${method} ${account} ${path}`) ?? []);
  }
}

export const refusalsOf = perWorld((world) => new Refusals(world));

function keyOf({ method, account, path, flight }: Call): string {
  return `${method} ${account} ${path}${method === 'POST' ? ` ${flight.body}` : ''}`;
}
