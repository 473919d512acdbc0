import type { z } from 'zod';
import { body, bodyOrAbsent, deleted } from '../../common/http/answer.ts';
import type { Call } from '../../common/priority.ts';
import type { Page } from './pages.ts';
import { allItems, page } from './pages.ts';
import { pathOf } from './path.ts';
import type { Transport } from './transport.ts';

export interface ListQuery {
  /** Items per page. */
  readonly limit?: number;
  /** Continue with what is older than this id. */
  readonly before_id?: string;
}

/** A collection that can be read. A 404 for an id is undefined; a list answered by 404 is an error. */
export interface Readable<T> {
  get(id: string, call: Call): Promise<T | undefined>;
  /** One page. */
  list(query: ListQuery, call: Call): Promise<Page<T>>;
  /** Every item, a page at a time, each page a request of its own. */
  listAll(call: Call, options?: { readonly pageSize?: number }): AsyncIterable<T>;
}

/** A collection whose items are made and changed through the API. */
export interface Writable<T, Create, Update> extends Readable<T> {
  create(fields: Create, call: Call): Promise<T>;
  update(id: string, fields: Update, call: Call): Promise<T>;
  delete(id: string, call: Call): Promise<'deleted' | 'absent'>;
}

/** A module: one per parent, replaced whole. */
export interface Module<Parent, T, Replace> {
  replace(parent: Parent, fields: Replace, call: Call): Promise<T>;
  get(parent: Parent, call: Call): Promise<T | undefined>;
  delete(parent: Parent, call: Call): Promise<'deleted' | 'absent'>;
}

const defaultPageSize = 100;

export function readable<T>(transport: Transport, name: string, schema: z.ZodType<T>): Readable<T> {
  const getName = `${name}.get`;
  const listName = `${name}.list`;
  const one = bodyOrAbsent(schema);
  const many = page(name, schema);
  const listPage = (query: string, call: Call) => {
    const path = query === '' ? `/${name}` : `/${name}?${query}`;
    return transport.send({ operation: listName, method: 'GET', path, read: many }, call);
  };
  return {
    get: async (id, call) =>
      transport.send({ operation: getName, method: 'GET', path: pathOf(getName, name, id), read: one }, call),
    list: (query, call) => listPage(queryText(query), call),
    listAll: (call, { pageSize = defaultPageSize } = {}) =>
      allItems(listName, queryText({ limit: pageSize }), (query) => listPage(query, call)),
  };
}

export function writable<T, Create extends object, Update extends object>(
  transport: Transport,
  name: string,
  schema: z.ZodType<T>,
): Writable<T, Create, Update> {
  const [create, update, remove] = [`${name}.create`, `${name}.update`, `${name}.delete`] as const;
  const made = body(schema, { missing: 'Unreachable' });
  const changed = body(schema, { missing: 'NotFound' });
  return {
    ...readable(transport, name, schema),
    create: (fields, call) =>
      transport.send({ operation: create, method: 'POST', path: `/${name}`, body: fields, read: made }, call),
    update: async (id, fields, call) => {
      const path = pathOf(update, name, id);
      return transport.send({ operation: update, method: 'PATCH', path, body: fields, read: changed }, call);
    },
    delete: async (id, call) =>
      transport.send({ operation: remove, method: 'DELETE', path: pathOf(remove, name, id), read: deleted }, call),
  };
}

/** `segments` names the module's path for a parent. */
export function module<Parent, T, Replace extends object>(
  transport: Transport,
  name: string,
  segments: (parent: Parent) => readonly string[],
  schema: z.ZodType<T>,
): Module<Parent, T, Replace> {
  const [replace, get, remove] = [`${name}.replace`, `${name}.get`, `${name}.delete`] as const;
  const one = bodyOrAbsent(schema);
  const replaced = body(schema, { missing: 'NotFound' });
  return {
    replace: async (parent, fields, call) => {
      const path = pathOf(replace, ...segments(parent));
      return transport.send({ operation: replace, method: 'PUT', path, body: fields, read: replaced }, call);
    },
    get: async (parent, call) =>
      transport.send({ operation: get, method: 'GET', path: pathOf(get, ...segments(parent)), read: one }, call),
    delete: async (parent, call) =>
      transport.send(
        { operation: remove, method: 'DELETE', path: pathOf(remove, ...segments(parent)), read: deleted },
        call,
      ),
  };
}

function queryText({ limit, before_id }: ListQuery): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set('limit', String(limit));
  if (before_id !== undefined) query.set('before_id', before_id);
  return query.toString();
}
