import { Command } from 'commander';

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Try everything on this machine: a Kubernetes API, a cloud, an agent and the operator, with samples applied.',
    )
    .option('--once', 'exit 0 as soon as every sample is Ready and a request came through, or 1 after a minute', false)
    .action(async (options: { once: boolean }) => {
      const { runDemo } = await import('./demo.ts');
      if (!(await runDemo(options))) process.exitCode = 1;
    });
}
