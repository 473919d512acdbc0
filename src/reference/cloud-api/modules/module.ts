import type { z } from 'zod';
import { readBody } from '../body.ts';
import { Collection, type Kind } from '../collection.ts';
import type { ApiRequest } from '../operation.ts';
import { ApiProblem } from '../problem.ts';
import type { World } from '../world.ts';
import type { Parent, ParentKind } from './parents.ts';

/** Around a module: the request, what it is attached to, and the server's objects. */
export interface Context {
  readonly request: ApiRequest;
  readonly parent: Parent;
  readonly world: World;
}

/** A kind of module: a singleton of its parent. `Stored` is what is kept of it, JSON. */
export interface ModuleDefinition<Body extends z.ZodObject, Answer extends z.ZodObject, Stored extends object> {
  /** Its last path segment. */
  readonly name: string;
  /** As its answer is named: `SamlModule`. */
  readonly title: string;
  readonly parent: ParentKind;
  /** Whether it may be on an edge that passes TLS through (Cloud Management API, section 2, TLS termination). */
  readonly onUpstream: boolean;
  readonly body: Body;
  readonly answer: Answer;
  /** @throws ApiProblem when the request breaks a rule that needs more than the body. */
  readonly replace: (body: z.output<Body>, context: Context, before: Stored | undefined) => Stored;
  readonly render: (stored: Stored, context: Context) => z.output<Answer>;
}

type Facts = 'name' | 'title' | 'parent' | 'onUpstream' | 'body' | 'answer';

/** A module in the table of all, where the kinds of body no longer show. */
export interface Module extends Pick<ModuleDefinition<z.ZodObject, z.ZodObject, object>, Facts> {
  /** What is to be stored from now on. */
  readonly replace: (context: Context, before: unknown) => object;
  readonly render: (stored: unknown, context: Context) => unknown;
}

export function defineModule<Body extends z.ZodObject, Answer extends z.ZodObject, Stored extends object>(
  definition: ModuleDefinition<Body, Answer, Stored>,
): Module {
  const { body, replace, render } = definition;
  return {
    ...definition,
    replace: (context, before) => replace(readBody(body, context.request.body), context, before as Stored | undefined),
    render: (stored, context) => render(stored as Stored, context),
  };
}

/** The ids, each once. @throws ApiProblem 400 naming the one that is unknown. */
export function knownIds(ids: readonly string[], field: string, kind: Kind, context: Context): readonly string[] {
  const collection = new Collection(context.world.statements, kind);
  for (const [index, id] of ids.entries()) {
    if (collection.get(context.request.account, id) === undefined) {
      throw new ApiProblem('referenceUnknown', `invalid field "${field}[${index}]": no such id: "${id}"`);
    }
  }
  return [...new Set(ids)];
}
