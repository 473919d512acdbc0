import { z } from 'zod';
import { fieldName } from '../../../common/field-path.ts';
import { enabled, text, textList } from '../fields.ts';
import { ApiProblem } from '../problem.ts';
import { defineModule } from './module.ts';

const action = z.looseObject({ type: text, config: z.looseObject({}).optional() });
const rule = z.looseObject({ name: text, expressions: textList, actions: z.array(action) });

/** What is shown of the grammar (Cloud Management API, section 2); other keys and action types pass. */
const policy = z.looseObject({ inbound: z.array(rule) });

const policyText = text.meta({ contentMediaType: 'application/json', contentSchema: z.toJSONSchema(policy) });

export const trafficPolicy = defineModule({
  name: 'traffic_policy',
  title: 'TrafficPolicyModule',
  parent: 'tlsEdge',
  onUpstream: true,
  body: z.strictObject({ enabled, value: policyText }),
  answer: z.strictObject({ enabled, value: policyText }),
  replace: (body) => ({ enabled: body.enabled, value: compact(body.value) }),
  render: (stored) => stored,
});

function compact(value: string): string {
  const document = parse(value);
  const [issue] = policy.safeParse(document).error?.issues ?? [];
  if (issue === undefined) return JSON.stringify(document);
  const path = fieldName(issue.path);
  throw new ApiProblem('policyInvalid', `invalid field "value": ${path === '' ? '' : `${path}: `}${issue.message}`);
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new ApiProblem('policyInvalid', 'invalid field "value": not a JSON document');
  }
}
