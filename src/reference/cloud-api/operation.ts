import type { z } from 'zod';
import type { JsonRoute } from '../../common/http-server/json-app.ts';

/** An authenticated request, as an operation sees it. */
export interface ApiRequest {
  readonly account: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Parsed JSON, or undefined when there was none. */
  readonly body: unknown;
  /** Base URL of the `uri` values of the answer, without a trailing slash. */
  readonly base: string;
}

/** Refuses with ApiProblem, and has changed nothing then; its work is committed when it returns. */
export type Route = JsonRoute<ApiRequest>;

/** A body, under the name it has in the OpenAPI document. */
export interface Shape {
  readonly name: string;
  readonly schema: z.ZodObject;
}

/** One row of the tables of the Cloud Management API, section 4, with what the OpenAPI document says of it. */
export interface Operation extends Route {
  /** What it acts on and how: `reserved_addrs.create`. */
  readonly id: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: Shape;
  /** None with status 204. */
  readonly answer?: Shape;
}
