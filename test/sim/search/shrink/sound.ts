import type { Act, Story } from '../../core/story.ts';

/**
 * Whether a story can show a defect of the operator at all: somebody runs it. An installation that runs in the end of
 * the long story runs in the end of the short one, else nothing would ever be in order.
 */
export function isSound(story: Story, original: Story): boolean {
  const { installations } = story;
  return (
    installations.length > 0 && installations.every(({ name }) => runsAtEnd(story, name) || !runsAtEnd(original, name))
  );
}

function runsAtEnd({ acts }: Story, installation: string): boolean {
  const isOfIt = (act: Act) => (act.do === 'start' || act.do === 'stop') && act.installation === installation;
  return acts.toSorted((a, b) => a.at - b.at).findLast(isOfIt)?.do === 'start';
}
