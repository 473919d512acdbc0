import { cloudModelOf, keyOf, type Thing } from './cloud-model.ts';
import { installationOf } from './who.ts';
import { perWorld, type Witness } from './witness.ts';

interface Sighting {
  readonly key: string;
  /** Since when it is seen with that one; undefined where that is the first one. */
  readonly since: number | undefined;
}

/** With which key operators saw an object of the cloud for the last time, by the answers that reached them. */
export class Sightings {
  readonly #last = new Map<string, Sighting>();

  constructor({ network, scheduler }: Witness, accountOf: (service: string, key: string) => string | undefined) {
    network.arrivals.add((flight, { status, body }) => {
      if (flight.to.name === 'kube' || status >= 300 || installationOf(flight.from.name) === undefined) return;
      const key = keyOf(flight);
      const account = accountOf(flight.to.name, key);
      for (const [id] of body.matchAll(/\b(?:ra|bot)_[0-9A-Za-z]+/g)) {
        const name = `${account} ${id}`;
        const last = this.#last.get(name);
        if (last?.key !== key) this.#last.set(name, { key, since: last && scheduler.now });
      }
    });
  }

  /** Undefined: none ever saw it. */
  of({ account, name }: Thing): Sighting | undefined {
    return this.#last.get(`${account} ${name}`);
  }
}

export const sightingsOf = perWorld(
  (world) => new Sightings(world, (service, key) => cloudModelOf(world).keys.accountOf(service, key)),
);
