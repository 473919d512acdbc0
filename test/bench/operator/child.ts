import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A module of this folder in a process of its own, which says one thing when it is ready and then answers messages. */
export interface Child<Ready, Answer> {
  readonly ready: Ready;
  ask(): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startChild<Ready, Answer>(file: string, args: readonly string[]): Promise<Child<Ready, Answer>> {
  const child = fork(join(import.meta.dirname, file), [...args]);
  let next = Promise.withResolvers<unknown>();
  child.on('message', (message) => next.resolve(message));
  const exited = once(child, 'exit');
  void exited.then(() => next.reject(new Error(`${file} ended`)));
  const ready = (await next.promise) as Ready;
  return {
    ready,
    ask: () => {
      next = Promise.withResolvers();
      child.send('tell');
      return next.promise as Promise<Answer>;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
