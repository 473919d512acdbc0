import { cloudModelOf, keyOf, type Thing } from './cloud-model.ts';
import { installationsOf } from './installations.ts';
import { installationOf } from './who.ts';
import { perWorld, second, type Witness } from './witness.ts';

interface Sighting {
  readonly key: string;
  /** Since when it is seen with that one, or since that was put in force anew; undefined where that is the first one. */
  readonly since: number | undefined;
  /** In the moment in which it was put in force, that is: whether it was that one an operator cannot say. */
  readonly isOfChange: boolean;
}

/** With which key operators saw an object of the cloud for the last time, by the answers that reached them. */
export class Sightings {
  readonly #last = new Map<string, Sighting>();

  constructor(world: Witness, accountOf: (service: string, key: string) => string | undefined) {
    const { network, scheduler } = world;
    network.arrivals.add((flight, { status, body }) => {
      const installation = installationOf(flight.from.name);
      if (flight.to.name === 'kube' || status >= 300 || installation === undefined) return;
      // A file has changed some time before its key is put in force: it is read until it stays as it is.
      const history = installationsOf(world).get(installation);
      const isOfChange = history?.isRekeyedIn(flight.sentAt - second, flight.sentAt) === true;
      const key = keyOf(flight);
      const account = accountOf(flight.to.name, key);
      for (const [id] of body.matchAll(/\b(?:ra|bot)_[0-9A-Za-z]+/g)) {
        const name = `${account} ${id}`;
        const last = this.#last.get(name);
        if (last?.key !== key || isOfChange) this.#last.set(name, { key, since: last && scheduler.now, isOfChange });
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
