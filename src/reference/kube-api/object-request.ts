import type { Clock, WallClock } from '../../common/clock.ts';
import type { Exchange } from './exchange.ts';
import type { ApiObject } from './object.ts';
import type { Subresource } from './objects/admission.ts';
import type { Objects } from './objects/objects.ts';
import { type Presentation, presentationOf } from './presentation/presentation.ts';
import type { Batches } from './reads/batches.ts';
import type { EventLines } from './reads/event-lines.ts';
import type { Store } from './store/store.ts';
import type { ResourceType } from './types/resource-type.ts';

export interface HandlerContext {
  readonly store: Store;
  readonly objects: Objects;
  readonly clock: WallClock;
  readonly monotonic: Clock;
  readonly bookmarkMs: number;
  readonly lines: EventLines;
  readonly batches: Batches;
}

/** A request for objects of one type. */
export interface ObjectRequest {
  readonly exchange: Exchange;
  readonly type: ResourceType;
  /** Undefined for cluster-scoped objects and across namespaces. */
  readonly namespace: string | undefined;
  readonly subresource: Subresource;
  readonly context: HandlerContext;
}

/** The shape in which the client wants its answer. */
export function presentation({ exchange, type, context }: ObjectRequest): Presentation {
  return presentationOf(exchange.header('accept'), exchange.query, type, () => context.clock.now());
}

export function show(request: ObjectRequest, code: number, object: ApiObject): void {
  request.exchange.send(code, presentation(request).object(object));
}

/** A switch in a query is on whatever its value, but for these. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}
