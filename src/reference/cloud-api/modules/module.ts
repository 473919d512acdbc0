import type { z } from 'zod';
import { readBody } from '../body.ts';
import type { Call } from '../operation.ts';
import type { World } from '../world.ts';
import type { Parent, ParentKind } from './parents.ts';

/** Around a module: the request, what it is attached to, and the server's objects. */
export interface Context {
  readonly call: Call;
  readonly parent: Parent;
  readonly world: World;
}

/** A kind of module: a singleton of its parent. `Stored` is what is kept of it, JSON. */
export interface ModuleDefinition<Body extends z.ZodObject, Stored extends object> {
  /** Its last path segment. */
  readonly name: string;
  readonly parent: ParentKind;
  /** Whether it may be on an edge that passes TLS through (reference section 2, TLS termination). */
  readonly onUpstream: boolean;
  readonly body: Body;
  /** @throws ApiProblem when the request breaks a rule that needs more than the body. */
  readonly replace: (body: z.output<Body>, context: Context, before: Stored | undefined) => Stored;
  readonly render: (stored: Stored, context: Context) => unknown;
}

/** A module in the table of all, where the kinds of body no longer show. */
export interface Module {
  readonly name: string;
  readonly parent: ParentKind;
  readonly onUpstream: boolean;
  /** What is to be stored from now on. */
  readonly replace: (context: Context, before: unknown) => object;
  readonly render: (stored: unknown, context: Context) => unknown;
}

export function defineModule<Body extends z.ZodObject, Stored extends object>(
  definition: ModuleDefinition<Body, Stored>,
): Module {
  const { name, parent, onUpstream, body, replace, render } = definition;
  return {
    name,
    parent,
    onUpstream,
    replace: (context, before) => replace(readBody(body, context.call.body), context, before as Stored | undefined),
    render: (stored, context) => render(stored as Stored, context),
  };
}
