import type { Flight } from '../core/network.ts';
import { nameOfTarget, targetOf } from './kube-path.ts';

const idPattern = /\b[a-z]+_[0-9A-Za-z]{27}\b/g;
const annotation = 'edge-operator.dev/external-id';

/** Which resource an external id belongs to, as far as any of them ever said so. */
export class Ids {
  readonly #names = new Map<string, string>();

  constructor(flights: Iterable<Flight>) {
    for (const flight of flights) if (flight.to.name === 'kube') this.#learn(flight);
  }

  nameOf(id: string): string | undefined {
    return this.#names.get(id);
  }

  /** Ids short, with the resource that they belong to where that is not clear. */
  named(text: string, about?: string): string {
    return text.replace(idPattern, (id) => {
      const name = this.nameOf(id);
      return name === undefined || name === about ? short(id) : `${short(id)} (${name})`;
    });
  }

  #learn({ path, body }: Flight): void {
    const target = targetOf(path);
    if (target?.name === undefined || body === undefined) return;
    const id = idIn(parsed(body));
    if (id !== undefined && !this.#names.has(id)) this.#names.set(id, nameOfTarget(target));
  }
}

/** Enough of an id to tell it from others. */
export function short(text: string): string {
  return text.replace(idPattern, (id) => id.slice(0, id.indexOf('_') + 7));
}

interface Written {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, unknown>> };
  readonly status?: { readonly id?: unknown };
}

function idIn({ metadata, status }: Written): string | undefined {
  const id = metadata?.annotations?.[annotation] ?? status?.id;
  return typeof id === 'string' ? id : undefined;
}

function parsed(body: string): Written {
  try {
    return JSON.parse(body) as Written;
  } catch {
    return {};
  }
}
