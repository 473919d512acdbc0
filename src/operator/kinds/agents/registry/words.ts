import { clipped, oneLine } from '../../../../common/http/text.ts';
import type { AgentStatus } from '../../../agent-client/schemas.ts';

const longest = 256;
/** An agent has one or two. */
const mostLegs = 16;

/** What an agent says of itself, fit for a status, a message or a label: whatever listens there may say anything. */
export function words(text: string): string {
  // Of megabytes not even the white space is looked for.
  return clipped(oneLine(text.slice(0, 4 * longest)), longest);
}

/** What an agent says of itself, without what nobody asks for, to be kept: nothing in it is a part of a larger text. */
export function saidIn({ status, agent_version, session, uri }: AgentStatus): AgentStatus {
  const legs = session.legs
    .slice(0, mostLegs)
    .map(({ region, latency }) => ({ region: words(region), latency: words(latency) }));
  return structuredClone({
    status: words(status),
    agent_version: words(agent_version),
    session: { legs },
    uri: words(uri),
  });
}
