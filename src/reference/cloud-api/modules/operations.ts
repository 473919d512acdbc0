import type { Call, Operation } from '../operation.ts';
import { ApiProblem } from '../problem.ts';
import type { World } from '../world.ts';
import type { Context, Module } from './module.ts';
import { modules } from './modules.ts';
import { type ParentType, parentTypes } from './parents.ts';
import { ModuleStore } from './store.ts';

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
  return [
    { method: 'PUT', path, status: 200, handle: put },
    { method: 'GET', path, status: 200, handle: get },
    { method: 'DELETE', path, status: 204, handle: remove },
  ];
}

function refuseUpstream(module: Module, { parent }: Context): void {
  if (parent.terminateAt === 'edge' || module.onUpstream) return;
  throw new ApiProblem('upstreamDisallows', `${module.name} cannot be set: the edge passes TLS through to upstream`);
}

function unset(module: Module): never {
  throw new ApiProblem('moduleUnset', `${module.name} is not set`);
}
