import { z } from 'zod';
import { fieldName } from '../../../common/field-path.ts';
import { enabled, text, textList } from '../fields.ts';
import { mostLevels, nestsDeeper } from '../nesting.ts';
import { ApiProblem } from '../problem.ts';
import { defineModule } from './module.ts';

const object = { error: 'must be an object' };
const list = { error: 'must be a list' };
const action = z.looseObject({ type: text, config: z.looseObject({}, object).optional() }, object);
const rule = z.looseObject({ name: text, expressions: textList, actions: z.array(action, list) }, object);

/** What is shown of the grammar (Cloud Management API, section 2); other keys and action types pass. */
const policy = z.looseObject({ inbound: z.array(rule, list) }, object);

const policyText = text.meta({ contentMediaType: 'application/json', contentSchema: z.toJSONSchema(policy) });

export const trafficPolicy = defineModule({
  name: 'traffic_policy',
  title: 'TrafficPolicyModule',
  parent: 'tlsEdge',
  onUpstream: true,
  body: z.strictObject({ enabled, value: policyText }),
  answer: z.strictObject({ enabled, value: policyText }),
  replace: (body) => ({ enabled: body.enabled, value: accepted(body.value) }),
  render: (stored) => stored,
});

/** @throws ApiProblem naming the field, and what in it is wrong. */
function accepted(value: string): string {
  const document = parse(value);
  if (nestsDeeper(document)) throw invalid(`must nest at most ${mostLevels} levels deep`);
  const [issue] = policy.safeParse(document).error?.issues ?? [];
  if (issue === undefined) return compact(value);
  const path = fieldName(issue.path);
  throw invalid(`${path === '' ? '' : `${path}: `}${issue.message}`);
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw invalid('not a JSON document');
  }
}

/** As text, since numbers and the order of keys would not survive parsing. Of JSON only: all else in it is tokens. */
const compact = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

const invalid = (why: string) => new ApiProblem('policyInvalid', `invalid field "value": ${why}`);
