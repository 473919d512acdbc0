import type { Call, Operation } from '../operation.ts';
import { ApiProblem } from '../problem.ts';
import type { World } from '../world.ts';
import { compression } from './compression.ts';
import { ipRestriction } from './ip-restriction.ts';
import type { Context, Module } from './module.ts';
import { mutualTls } from './mutual-tls.ts';
import { type ParentType, parentTypes } from './parents.ts';
import { saml } from './saml.ts';
import { ModuleStore } from './store.ts';
import { tlsTermination } from './tls-termination.ts';
import { trafficPolicy } from './traffic-policy.ts';
import { webhookVerification } from './webhook-verification.ts';

/** Every module of reference section 2. */
const modules: readonly Module[] = [
  saml,
  ipRestriction,
  webhookVerification,
  compression,
  trafficPolicy,
  mutualTls,
  tlsTermination,
];

/** PUT, GET and DELETE of every module (reference section 4, rules 3 and 4). */
export function moduleOperations(world: World): readonly Operation[] {
  const parents = parentTypes(world);
  const store = new ModuleStore(world.database);
  return modules.flatMap((module) => operationsOf(module, parents[module.parent], store, world));
}

function operationsOf(module: Module, type: ParentType, store: ModuleStore, world: World): readonly Operation[] {
  const path = `${type.path}/${module.name}`;
  const contextOf = (call: Call): Context => ({ call, parent: type.find(call), world });

  const put = (call: Call) => {
    const context = contextOf(call);
    refuseUpstream(module, context);
    const stored = module.replace(context, store.get(call.account, context.parent.id, module.name));
    store.put(call.account, context.parent.id, module.name, stored);
    return module.render(stored, context);
  };
  const get = (call: Call) => {
    const context = contextOf(call);
    const stored = store.get(call.account, context.parent.id, module.name);
    return stored === undefined ? unset(module) : module.render(stored, context);
  };
  const remove = (call: Call) => {
    if (!store.remove(call.account, type.find(call).id, module.name)) unset(module);
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
