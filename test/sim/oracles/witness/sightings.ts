import { cloudModelOf, keyOf, type Thing } from './cloud-model.ts';
import { installationOf } from './who.ts';
import { perWorld, type Witness } from './witness.ts';

/** With which key an operator saw an object of the cloud for the last time, by the answers that reached it. */
export class Sightings {
  readonly #keys = new Map<string, string>();

  constructor({ network }: Witness, accountOf: (service: string, key: string) => string | undefined) {
    network.arrivals.add((flight, { status, body }) => {
      if (flight.to.name === 'kube' || status >= 300 || installationOf(flight.from.name) === undefined) return;
      const key = keyOf(flight);
      const account = accountOf(flight.to.name, key);
      for (const [id] of body.matchAll(/\b(?:ra|bot)_[0-9A-Za-z]+/g)) this.#keys.set(`${account} ${id}`, key);
    });
  }

  /** Undefined: none ever saw it. */
  keyOf({ account, name }: Thing): string | undefined {
    return this.#keys.get(`${account} ${name}`);
  }
}

export const sightingsOf = perWorld(
  (world) => new Sightings(world, (service, key) => cloudModelOf(world).keys.accountOf(service, key)),
);
