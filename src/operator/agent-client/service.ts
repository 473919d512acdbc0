import { z } from 'zod';
import { patience, type Service } from '../../common/http/service.ts';

const text = z.string().optional().catch(undefined);

/** Its shape is not shown (Local Agent API, section 7); what is not as expected says nothing. */
const errorSchema = z
  .object({
    error_code: z.int().optional().catch(undefined),
    status_code: z.int().optional().catch(undefined),
    msg: text,
    details: z.object({ err: text }).optional().catch(undefined),
  })
  .catch({});

/** HTTP as the agent wants it (Local Agent API, sections 4 and 7). */
export const agentService: Service = {
  answered: 'the agent answered',
  urlName: 'agent URL',
  timeouts: patience,
  errorBody: (body) => {
    const { error_code: code, status_code, msg, details } = errorSchema.parse(body);
    return { code, saysStatus: msg === undefined ? undefined : status_code, messages: [msg ?? '', details?.err ?? ''] };
  },
  codeText: (code) => ` (error ${code})`,
};
