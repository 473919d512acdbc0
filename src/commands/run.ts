import { Command, Option } from 'commander';
import type { RunSettings } from '../config.ts';
import { runSettings, settingsHelp } from '../config.ts';
import { UsageError } from './usage.ts';

export function runCommand(): Command {
  const command = new Command('run')
    .description('Run the operator: watch the custom resources and reconcile them with the cloud.')
    .addHelpText('after', '\nEvery flag is also a variable: --api-url is EDGE_OPERATOR_API_URL.');
  for (const { flag, variable, arg, about } of settingsHelp()) {
    command.addOption(new Option(arg === undefined ? flag : `${flag} <${arg}>`, about).env(variable));
  }
  return command.action(async (options: Record<string, unknown>) => {
    const settings = parseSettings(options);
    const { main } = await import('../operator.ts');
    await main(settings, process.env.EDGE_OPERATOR_API_KEY);
  });
}

/** Throws UsageError naming the flag, its variable, and what to write instead. */
export function parseSettings(options: Record<string, unknown>): RunSettings {
  const parsed = runSettings.safeParse(options);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' };
  const setting = settingsHelp().find((candidate) => candidate.name === path[0]);
  throw new UsageError(
    `${setting?.flag} (or ${setting?.variable}): ${JSON.stringify(options[String(path[0])])} ${message}`,
  );
}
