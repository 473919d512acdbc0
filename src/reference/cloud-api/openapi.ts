import { z } from 'zod';
import { refShape } from './fields.ts';
import type { Operation, Shape } from './operation.ts';
import { errorShape, problems } from './problem.ts';

type Json = Readonly<Record<string, unknown>>;

const folder = '#/components/schemas/';
const json = (name: string): Json => ({ 'application/json': { schema: { $ref: folder + name } } });
const answerHeaders: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string', enum: ['Bearer'] } } },
  429: { 'Retry-After': { description: 'seconds', schema: { type: 'integer', minimum: 1 } } },
};
const meanings: Readonly<Record<number, string>> = { 200: 'Done', 201: 'Created', 204: 'Done; no body' };

/** The OpenAPI 3.1 document of the operations: docs/openapi.json, and what the server has at /openapi.json. */
export function openApi(operations: readonly Operation[], baseUrl = '/'): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Cloud Management API',
      version: '2',
      description:
        'As the cloud reference server has it; docs/reference-cloud.md says where the document it follows is silent.',
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    paths: pathsObject(operations),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the account' } },
      parameters: {
        ServiceVersion: {
          name: 'Service-Version',
          in: 'header',
          required: true,
          schema: { type: 'string', enum: ['2'] },
        },
      },
      responses: Object.fromEntries(refusalStatuses.map((status) => [`Error${status}`, refusal(status)])),
      schemas: schemasOf(operations),
    },
  };
}

function pathsObject(operations: readonly Operation[]): Json {
  const paths = Map.groupBy(operations, ({ path }) => path.replace(/:(\w+)/g, '{$1}'));
  return Object.fromEntries(
    [...paths].map(([path, served]) => [
      path,
      {
        parameters: [{ $ref: '#/components/parameters/ServiceVersion' }, ...pathParameters(path)],
        ...Object.fromEntries(served.map((operation) => [operation.method.toLowerCase(), operationObject(operation)])),
      },
    ]),
  );
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }));
}

function operationObject({ id, summary, status, query, body, answer, path }: Operation): Json {
  const statuses = [
    400,
    401,
    403,
    ...(path.includes(':') ? [404] : []),
    408,
    ...(body ? [413, 415] : []),
    429,
    431,
    500,
  ];
  return {
    operationId: id,
    tags: [id.split('.', 1)[0]],
    summary,
    ...(query === undefined ? {} : { parameters: queryParameters(query) }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body.name) } }),
    responses: {
      [status]: { description: meanings[status], ...(answer === undefined ? {} : { content: json(answer.name) }) },
      ...Object.fromEntries(statuses.map((code) => [code, { $ref: `#/components/responses/Error${code}` }])),
    },
  };
}

function queryParameters(query: z.ZodObject): readonly Json[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

const refusalStatuses = [400, 401, 403, 404, 408, 413, 415, 429, 431, 500];

function refusal(status: number): Json {
  const causes = Object.values(problems).filter((problem) => problem.status === status);
  return {
    description: causes.map(({ number, means }) => `ERR_EDGE_${number}: ${means}`).join('\n'),
    ...(answerHeaders[status] === undefined ? {} : { headers: answerHeaders[status] }),
    content: json('Error'),
  };
}

/** Requests as they may be sent, answers as they are. */
function schemasOf(operations: readonly Operation[]): Json {
  const requests = operations.flatMap(({ body }) => body ?? []);
  const answers = operations.flatMap(({ answer }) => answer ?? []);
  const shared = [
    { name: 'Ref', schema: refShape },
    { name: 'Error', schema: errorShape },
  ];
  return { ...jsonSchemas([...shared, ...answers], 'output'), ...jsonSchemas(requests, 'input') };
}

function jsonSchemas(shapes: readonly Shape[], io: 'input' | 'output'): Json {
  const registry = z.registry<{ id: string }>();
  for (const { name, schema } of shapes) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, { io, uri: (name) => folder + name });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _, $schema: __, ...schema }]) => [name, schema]),
  );
}
