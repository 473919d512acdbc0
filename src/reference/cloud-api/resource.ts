import type { Collection } from './collection.ts';
import type { Call, Operation } from './operation.ts';
import { listEnvelope } from './paging.ts';
import { ApiProblem } from './problem.ts';

/** A kind with a list: what the operations on it need to know. Without create and update it is read-only. */
export interface Resource<T extends { readonly id: string }> {
  /** As its path and its list are named: `reserved_addrs`. */
  readonly name: string;
  readonly collection: Collection<T>;
  readonly render: (item: T, base: string) => unknown;
  readonly write?: {
    readonly create: (call: Call) => T;
    readonly update: (call: Call, item: T) => T;
  };
}

export function resourceOperations<T extends { readonly id: string }>(resource: Resource<T>): readonly Operation[] {
  const { name, collection, render } = resource;
  const path = `/${name}`;
  const list = (call: Call) =>
    listEnvelope(call, collection, `${call.base}${path}`, name, (item) => render(item, call.base));
  return [
    { method: 'GET', path, status: 200, handle: list },
    { method: 'GET', path: `${path}/:id`, status: 200, handle: (call) => render(find(resource, call), call.base) },
    ...writeOperations(resource, path),
  ];
}

function writeOperations<T extends { readonly id: string }>(resource: Resource<T>, path: string): readonly Operation[] {
  const { write, collection, render } = resource;
  if (write === undefined) return [];
  const update = (call: Call) => {
    const item = write.update(call, find(resource, call));
    collection.put(call.account, item);
    return render(item, call.base);
  };
  const remove = (call: Call) => {
    collection.remove(call.account, find(resource, call).id);
  };
  return [
    { method: 'POST', path, status: 201, handle: (call) => render(write.create(call), call.base) },
    { method: 'PATCH', path: `${path}/:id`, status: 200, handle: update },
    { method: 'DELETE', path: `${path}/:id`, status: 204, handle: remove },
  ];
}

function find<T extends { readonly id: string }>({ name, collection }: Resource<T>, call: Call): T {
  const id = call.params.id ?? '';
  const item = collection.get(call.account, id);
  if (item === undefined) throw new ApiProblem('resourceUnknown', `no ${name} with id "${id}"`);
  return item;
}
