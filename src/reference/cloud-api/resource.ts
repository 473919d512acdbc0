import { z } from 'zod';
import type { Collection } from './collection.ts';
import { uri } from './fields.ts';
import type { ApiRequest, Operation } from './operation.ts';
import { listEnvelope, listQuery } from './paging.ts';
import { ApiProblem } from './problem.ts';

/** A kind with a list: what the operations on it need to know. Without `write` it is read-only. */
export interface Resource<T extends { readonly id: string }> {
  /** As its path and its list are named: `reserved_addrs`. */
  readonly name: string;
  /** As its answer is named: `ReservedAddr`. */
  readonly title: string;
  readonly collection: Collection<T>;
  readonly answer: z.ZodObject;
  readonly render: (item: T, base: string) => unknown;
  readonly write?: {
    readonly createBody: z.ZodObject;
    readonly updateBody: z.ZodObject;
    readonly create: (request: ApiRequest) => T;
    readonly update: (request: ApiRequest, item: T) => T;
  };
}

export function resourceOperations<T extends { readonly id: string }>(resource: Resource<T>): readonly Operation[] {
  return [...readOperations(resource), ...writeOperations(resource)];
}

function readOperations<T extends { readonly id: string }>(resource: Resource<T>): readonly Operation[] {
  const { name, title, collection, render } = resource;
  const path = `/${name}`;
  const schema = z.strictObject({ uri, next_page_uri: uri.nullable(), [name]: z.array(resource.answer) });
  return [
    {
      id: `${name}.list`,
      summary: `List every ${title}, newest first`,
      method: 'GET',
      path,
      status: 200,
      query: listQuery,
      answer: { name: `${title}List`, schema },
      handle: (request) =>
        listEnvelope(request, collection, `${request.base}${path}`, name, (item) => render(item, request.base)),
    },
    {
      id: `${name}.get`,
      summary: `Read one ${title}`,
      method: 'GET',
      path: `${path}/:id`,
      status: 200,
      answer: { name: title, schema: resource.answer },
      handle: (request) => render(find(resource, request), request.base),
    },
  ];
}

function writeOperations<T extends { readonly id: string }>(resource: Resource<T>): readonly Operation[] {
  const { name, title, write, collection, render } = resource;
  if (write === undefined) return [];
  const path = `/${name}/:id`;
  const answer = { name: title, schema: resource.answer };
  return [
    {
      id: `${name}.create`,
      summary: `Create a ${title}`,
      method: 'POST',
      path: `/${name}`,
      status: 201,
      body: { name: `${title}Create`, schema: write.createBody },
      answer,
      handle: (request) => render(write.create(request), request.base),
    },
    {
      id: `${name}.update`,
      summary: `Change the given fields of a ${title}`,
      method: 'PATCH',
      path,
      status: 200,
      body: { name: `${title}Update`, schema: write.updateBody },
      answer,
      handle: (request) => {
        const item = write.update(request, find(resource, request));
        collection.put(request.account, item);
        return render(item, request.base);
      },
    },
    {
      id: `${name}.delete`,
      summary: `Delete a ${title}`,
      method: 'DELETE',
      path,
      status: 204,
      handle: (request) => {
        collection.remove(request.account, find(resource, request).id);
      },
    },
  ];
}

function find<T extends { readonly id: string }>({ name, collection }: Resource<T>, request: ApiRequest): T {
  const id = request.params.id ?? '';
  const item = collection.get(request.account, id);
  if (item === undefined) throw new ApiProblem('resourceUnknown', `no ${name} with id "${id}"`);
  return item;
}
