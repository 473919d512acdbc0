import { z } from 'zod';
import { type ErrorBody, patience, type Service } from '../../common/http/service.ts';

/** Anything else may be a secret in the place of a code. */
const codeForm = /^ERR_[A-Z]{1,24}_\d{1,6}$/;

const requestIDForm = /^op_[0-9A-Za-z]{1,64}$/;

const text = z.string().optional().catch(undefined);

/** Its shape is not shown (Cloud Management API, section 7); what is not as expected says nothing. */
const errorSchema = z
  .object({
    error_code: text,
    status_code: z.number().optional().catch(undefined),
    msg: text,
    details: z.object({ operation_id: text, request_id: text }).optional().catch(undefined),
  })
  .catch({});

/** HTTP as the service wants it (Cloud Management API, sections 4, 5 and 9). */
export const cloudService: Service = {
  answered: 'the API answered',
  urlName: 'API URL',
  headers: { 'service-version': '2' },
  timeouts: patience,
  isOutside: true,
  success: [200, 201],
  errorBody,
  codeText: (code) => `: ${code}`,
  codeForm,
  requestIDForm,
  plainText: true,
  secretStatuses: [401, 403],
  forbidden: { status: 403, cure: 'give the API key the right to do this, or use another key' },
  secretFields: ['secret', 'idp_metadata'],
  longestRetryAfterMs: 3_600_000,
};

export function errorBody(body: unknown): ErrorBody {
  const { error_code: given = '', status_code, msg, details } = errorSchema.parse(body);
  const code = codeForm.test(given) ? given : undefined;
  const saysStatus = given === '' && msg === undefined ? undefined : status_code;
  const requestIDs = [details?.operation_id, details?.request_id].filter((id) => id !== undefined);
  return { code, saysStatus, messages: msg === undefined ? [] : [msg], requestIDs };
}
