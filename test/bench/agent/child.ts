import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A part of a benchmark in a process of its own: it sends one message when it is up, and one for each it gets. */
export interface Child<Up> {
  readonly up: Up;
  readonly process: ChildProcess;
  ask<Answer>(question: unknown): Promise<Answer>;
  stop(): void;
}

export async function startChild<Up>(file: string, ...args: readonly string[]): Promise<Child<Up>> {
  const process = fork(join(import.meta.dirname, file), args, { execArgv: ['--expose-gc'] });
  const ended = once(process, 'exit').then(([code]) => {
    throw new Error(`${file} ended with code ${code}`);
  });
  ended.catch(() => {});
  const next = async () => {
    const [message] = await Promise.race([once(process, 'message'), ended]);
    return message;
  };
  const up = (await next()) as Up;
  const ask = async <Answer>(question: unknown) => {
    process.send(question as object);
    return (await next()) as Answer;
  };
  return { up, process, ask, stop: () => void process.kill() };
}
