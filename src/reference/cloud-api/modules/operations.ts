import { Collection, kinds } from '../collection.ts';
import type { ApiRequest, Operation } from '../operation.ts';
import { ApiProblem } from '../problem.ts';
import type { World } from '../world.ts';
import { compression } from './compression.ts';
import { ipRestriction } from './ip-restriction.ts';
import type { Context, Module } from './module.ts';
import { mutualTls } from './mutual-tls.ts';
import { type ParentType, parentTypes } from './parents.ts';
import { saml } from './saml.ts';
import { tlsTermination } from './tls-termination.ts';
import { trafficPolicy } from './traffic-policy.ts';
import { webhookVerification } from './webhook-verification.ts';

/** Every module (Cloud Management API, section 2). */
const modules: readonly Module[] = [
  saml,
  ipRestriction,
  webhookVerification,
  compression,
  trafficPolicy,
  mutualTls,
  tlsTermination,
];

export interface ModuleRecord {
  /** Of its parent, and its name. */
  readonly id: `${string}/${string}`;
  readonly stored: object;
}

/** Those that are set. */
export const moduleCollection = (world: World): Collection<ModuleRecord> =>
  new Collection(world.statements, kinds.module);

/** Where the modules are that the parent has or may have. */
export const moduleIds = (parentId: string): readonly ModuleRecord['id'][] =>
  modules.map(({ name }) => moduleId(parentId, name));

export const moduleId = (parentId: string, name: string): ModuleRecord['id'] => `${parentId}/${name}`;

/** PUT, GET and DELETE of every module (Cloud Management API, section 4, rules 3 and 4). */
export function moduleOperations(world: World): readonly Operation[] {
  const parents = parentTypes(world);
  const store = moduleCollection(world);
  return modules.flatMap((module) => operationsOf(module, parents[module.parent], store, world));
}

function operationsOf(
  module: Module,
  type: ParentType,
  store: Collection<ModuleRecord>,
  world: World,
): readonly Operation[] {
  const path = `${type.path}/${module.name}`;
  const contextOf = (request: ApiRequest): Context => ({ request, parent: type.find(request), world });

  const put = (request: ApiRequest) => {
    const context = contextOf(request);
    refuseUpstream(module, context);
    const id = moduleId(context.parent.id, module.name);
    const stored = module.replace(context, store.get(request.account, id)?.stored);
    store.put(request.account, { id, stored });
    return module.render(stored, context);
  };
  const get = (request: ApiRequest) => {
    const context = contextOf(request);
    const found = store.get(request.account, moduleId(context.parent.id, module.name));
    return found === undefined ? unset(module) : module.render(found.stored, context);
  };
  const remove = (request: ApiRequest) => {
    if (!store.remove(request.account, moduleId(type.find(request).id, module.name))) unset(module);
  };
  const id = `${type.name}_${module.name}`;
  const body = { name: `${module.title}Request`, schema: module.body };
  const answer = { name: module.title, schema: module.answer };
  return [
    {
      id: `${id}.replace`,
      summary: `Set or replace the ${module.title}`,
      method: 'PUT',
      path,
      status: 200,
      body,
      answer,
      handle: put,
    },
    { id: `${id}.get`, summary: `Read the ${module.title}`, method: 'GET', path, status: 200, answer, handle: get },
    { id: `${id}.delete`, summary: `Remove the ${module.title}`, method: 'DELETE', path, status: 204, handle: remove },
  ];
}

function refuseUpstream(module: Module, { parent }: Context): void {
  if (parent.terminateAt === 'edge' || module.onUpstream) return;
  throw new ApiProblem('upstreamDisallows', `${module.name} cannot be set: the edge passes TLS through to upstream`);
}

function unset(module: Module): never {
  throw new ApiProblem('moduleUnset', `${module.name} is not set`);
}
