import { clipped, oneLine } from '../../../../common/http/text.ts';

const longest = 256;

/** What an agent says of itself, fit for a status, a message or a label: whatever listens there may say anything. */
export function words(text: string): string {
  // Of megabytes not even the white space is looked for.
  return clipped(oneLine(text.slice(0, 4 * longest)), longest);
}
