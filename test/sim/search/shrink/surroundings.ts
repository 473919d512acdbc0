import type { InstallationSpec, Story } from '../../core/story.ts';
import type { Attempts } from './attempts.ts';

/** Fewer installations, replicas and settings; the cloud as it is by default. */
export async function plainerSurroundings(attempts: Attempts): Promise<void> {
  for (const { name } of attempts.story.installations) await attempts.take(withoutInstallation(attempts.story, name));
  for (const { name } of attempts.story.installations) {
    for (const plainer of plainerSpecs(attempts.story, name)) await attempts.take(withSpec(attempts.story, plainer));
  }
  const { cloud, ...rest } = attempts.story;
  if (cloud !== undefined) await attempts.take(rest);
}

function withoutInstallation(story: Story, name: string): Story {
  return {
    ...story,
    installations: story.installations.filter((spec) => spec.name !== name),
    acts: story.acts.filter((act) => !('installation' in act) || act.installation !== name),
  };
}

function plainerSpecs(story: Story, name: string): readonly InstallationSpec[] {
  const spec = story.installations.find((each) => each.name === name);
  if (spec === undefined) return [];
  const { replicas, settings, ...plain } = spec;
  const withSettings = settings === undefined ? {} : { settings };
  return [
    plain,
    { ...plain, ...withSettings },
    ...(replicas === undefined ? [] : [{ ...plain, replicas }]),
    ...(replicas === 3 ? [{ ...plain, ...withSettings, replicas: 2 }] : []),
  ];
}

function withSpec(story: Story, spec: InstallationSpec): Story {
  return { ...story, installations: story.installations.map((each) => (each.name === spec.name ? spec : each)) };
}
