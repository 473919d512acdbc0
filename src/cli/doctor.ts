import { Command, Option } from 'commander';
import { systemRuntime } from '../common/runtime.ts';
import { parseDuration, UsageError } from '../common/usage.ts';
import type { Result } from '../operator/doctor/check.ts';
import { isNamespace, parseSettings, settingsHelp } from '../operator/settings.ts';
import { settingOption } from './flags.ts';
import { print } from './print.ts';
import { stopSignal } from './stop-signal.ts';

/** Those of `run` that say where the operator works, and with what. */
const shared = [
  'kubeconfig',
  'watchNamespaces',
  'apiUrl',
  'apiKeyFile',
  'mirrorNamespace',
  'mirrorInterval',
  'leaderElectNamespace',
  'shards',
];

interface Flags extends Record<string, unknown> {
  readonly sample?: string;
  readonly sampleAccount?: string;
  readonly timeout: string;
  readonly exitCode: boolean;
  readonly output: 'table' | 'json';
}

export function doctorCommand(): Command {
  const command = new Command('doctor').description(
    'Look whether an installation can work: definitions, rights, account, and whether an operator acts.',
  );
  for (const setting of settingsHelp()) if (shared.includes(setting.name)) command.addOption(settingOption(setting));
  return command
    .option('--sample <namespace>', 'instead: make a BotUser there, wait until it is Ready, and delete it again')
    .option('--sample-account <name>', 'the CloudAccount of the sample (default: the default account)')
    .option('--timeout <duration>', 'how long the sample may take to be Ready, and to be gone', '60s')
    .option('--exit-code', 'exit with 3 when something was found', false)
    .addOption(new Option('-o, --output <format>', 'table or json').choices(['table', 'json']).default('table'))
    .action(run);
}

/** Exit codes: 0 done, 1 something could not be found out, 3 with `--exit-code` there are findings. */
async function run({ sample, sampleAccount, timeout, exitCode, output, ...given }: Flags): Promise<void> {
  const timeoutMs = parseDuration(timeout);
  if (timeoutMs === undefined) throw new UsageError(`--timeout ${timeout} is no duration: write 500ms, 30s, 5m or 1h`);
  if (sample !== undefined && !isNamespace(sample))
    throw new UsageError(`--sample: "${sample}" is no name of a namespace`);
  if (sample === undefined && sampleAccount !== undefined) {
    throw new UsageError('--sample-account needs --sample <namespace>, in which that account is');
  }
  const [{ examine }, { silentLog }] = await Promise.all([
    import('../operator/doctor/doctor.ts'),
    import('../common/log.ts'),
  ]);
  const results = await examine({
    settings: parseSettings(given),
    apiKey: process.env.EDGE_OPERATOR_API_KEY,
    ...(sample === undefined
      ? {}
      : { sample: { namespace: sample, account: sampleAccount, timeoutMs, signal: stopped() } }),
    log: silentLog,
    runtime: systemRuntime,
  });
  await print(output === 'json' ? `${JSON.stringify({ checks: results }, null, 2)}\n` : textOf(results));
  if (results.some(({ failed }) => failed !== undefined)) process.exitCode = 1;
  else if (exitCode && results.some(({ findings }) => findings.length > 0)) process.exitCode = 3;
}

function stopped(): AbortSignal {
  const stop = new AbortController();
  void stopSignal().then(() => stop.abort());
  return stop.signal;
}

function textOf(results: readonly Result[]): string {
  return results.map(linesOf).join('');
}

function linesOf({ check, at, findings, failed, cure }: Result): string {
  if (failed !== undefined) return `?     ${check}: ${failed}\n${toDo(cure)}`;
  if (findings.length === 0) return `ok    ${check}: ${at}\n`;
  return findings.map((finding) => `FAIL  ${check}: ${finding.problem}\n${toDo(finding.cure)}`).join('');
}

function toDo(cure: string | undefined): string {
  return cure === undefined ? '' : `      Do: ${cure}\n`;
}
