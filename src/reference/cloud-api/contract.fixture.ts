import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface Exchange {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Of the request; undefined for none. */
  readonly body: unknown;
  readonly status: number;
  /** The body of the answer, undefined for none. */
  readonly answer: unknown;
}

/** What is used here of docs/openapi.json. */
export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>;
  readonly components: { readonly schemas: object };
}

interface Content {
  readonly content?: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
}

interface ContractOperation {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

const contractFile = join(import.meta.dirname, '../../../docs/openapi.json');

export const readContract = (): Contract => JSON.parse(readFileSync(contractFile, 'utf8'));

/** Tells whether what went over the wire is what docs/openapi.json says: undefined, or what is wrong. */
export function contractChecker(contract: Contract = readContract()): (exchange: Exchange) => string | undefined {
  const ajv = new Ajv2020({ allErrors: true });
  ajv.addFormat('uri', (value) => URL.canParse(value));
  ajv.addFormat(
    'date-time',
    (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) && !Number.isNaN(Date.parse(value)),
  );
  ajv.addVocabulary(Object.keys(contract));
  ajv.addSchema(contract, 'contract');

  const wrong = (schema: string | undefined, value: unknown): string | undefined => {
    if (schema === undefined) return value === undefined ? undefined : 'a body where there is none';
    const validate = ajv.getSchema(`contract${schema}`);
    if (validate === undefined) return `no schema ${schema}`;
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body' });
  };
  return ({ method, path, body, status, answer }) => {
    const operation = operationOf(contract, method, path);
    if (operation === undefined) return wrong('#/components/schemas/Error', answer);
    const response = operation.responses[status];
    if (response === undefined) return `${operation.operationId}: status ${status} is not in the document`;
    const refused = wrong(refOf(operation.requestBody), body);
    if (status < 300 && refused !== undefined)
      return `${operation.operationId}: accepted an invalid request: ${refused}`;
    const bad = wrong(response.$ref === undefined ? refOf(response) : '#/components/schemas/Error', answer);
    return bad === undefined ? undefined : `${operation.operationId}: invalid answer with status ${status}: ${bad}`;
  };
}

const refOf = (content: Content | undefined): string | undefined => content?.content?.['application/json'].schema.$ref;

function operationOf({ paths }: Contract, method: string, path: string): ContractOperation | undefined {
  const template = Object.keys(paths).find((key) => new RegExp(`^${key.replace(/\{\w+\}/g, '[^/]+')}$`).test(path));
  return template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
}
