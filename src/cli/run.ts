import { setFlagsFromString } from 'node:v8';
import { Command } from 'commander';
import type { Log } from '../common/log.ts';
import { UsageError } from '../common/usage.ts';
import type { KubeConnection } from '../operator/kube/connection.ts';
import { parseSettings, settingsHelp } from '../operator/settings.ts';
import { settingOption } from './flags.ts';
import { stopSignals } from './stop-signal.ts';
import { warningsOf } from './warnings.ts';

/** A pod is killed 30 s after SIGTERM: what is not finished by then is given up in an orderly way. */
const shutdownMs = 25_000;

export function runCommand(): Command {
  const command = new Command('run')
    .description('Run the operator: watch the custom resources and reconcile them with the cloud.')
    .addHelpText(
      'after',
      '\nEvery flag is also a variable: --api-url is EDGE_OPERATOR_API_URL. Switches take =true and =false, too.',
    );
  for (const setting of settingsHelp()) command.addOption(settingOption(setting));
  return command.action((options: Record<string, unknown>) => run({ ...options, ...switchesOf(command) }));
}

/** The variables of switches as they are: commander takes one that is there for true, whatever it says. */
function switchesOf(command: Command): Record<string, unknown> {
  const switches = settingsHelp().filter(({ arg, name }) => {
    return arg === undefined && command.getOptionValueSource(name) === 'env';
  });
  return Object.fromEntries(switches.map(({ name, variable }) => [name, process.env[variable]]));
}

/**
 * Collects garbage early: what is live is some 20 MB, and without these V8 lets several times that pile up before it looks.
 * For size it also collects once all is quiet, in small steps, and gives memory back; code that only the start needed goes too.
 * And compiles the HTTP parser of undici once, simply: to do it again better takes 12 MB that are never given back.
 * Node has no other way to say so that reaches every way of starting this.
 */
function keepMemorySmall(): void {
  setFlagsFromString('--heap-growing-percent=20');
  setFlagsFromString('--optimize-for-size');
  setFlagsFromString('--bytecode-old-age=2');
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}

async function run(given: Record<string, unknown>): Promise<void> {
  keepMemorySmall();
  const settings = parseSettings(given);
  const [{ runOperator }, { createLogger }] = await Promise.all([
    import('../operator/operator.ts'),
    import('../common/logger.ts'),
  ]);
  const log = createLogger({ level: settings.logLevel, format: settings.logFormat });
  const warnings = warningsOf(settings, process.env);
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(1);
    log.info('stopping', { signal: name });
    stop.abort();
    setTimeout(() => {
      log.error(`not stopped after ${shutdownMs / 1000} s; what is under way is given up`);
      process.exit(1);
    }, shutdownMs).unref();
  };
  for (const name of stopSignals) process.on(name, onSignal);
  const look = async (connection: KubeConnection, signal: AbortSignal) => {
    // Needed once: not by the start.
    const [{ tellOfDefinitions }, { systemRuntime }] = await Promise.all([
      import('../operator/doctor/at-start.ts'),
      import('../common/runtime.ts'),
    ]);
    await tellOfDefinitions(connection, { ...systemRuntime, log }, signal);
  };
  const options = { settings, apiKey: process.env.EDGE_OPERATOR_API_KEY, log, warnings, look };
  await runOperator(options, stop.signal).catch((error: unknown) => fail(error, log));
}

/** In the log, where whoever collects that finds it; how it is used is told as by every command. */
function fail(error: unknown, log: Log): void {
  if (error instanceof UsageError) throw error;
  log.error('ended by a failure', { error });
  process.exitCode = 1;
}
