import { z } from 'zod';
import type { Service } from '../../common/http/service.ts';

const text = z.string().optional().catch(undefined);

/** Its shape is not shown (Local Agent API, section 7); what is not as expected says nothing. */
const errorSchema = z
  .object({
    error_code: z.int().optional().catch(undefined),
    msg: text,
    details: z.object({ err: text }).optional().catch(undefined),
  })
  .catch({});

/** HTTP as the agent wants it (Local Agent API, sections 4 and 7). */
export const agentService: Service = {
  answered: 'the agent answered',
  urlName: 'agent URL',
  timeouts: { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000 },
  errorBody: (body) => {
    const { error_code: code, msg = '', details } = errorSchema.parse(body);
    return { code, messages: [msg, details?.err ?? ''] };
  },
  codeText: (code) => ` (error ${code})`,
};
