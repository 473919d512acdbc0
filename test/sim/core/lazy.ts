import type { Listener } from './server.ts';

export interface Served {
  readonly listener: Listener;
  close(): Promise<void>;
}

/** Made when it is first asked: of what costs much to make, and most worlds never ask. */
export function lazily(make: () => Promise<Served>): Served {
  let made: Promise<Served> | undefined;
  return {
    listener: (request, response) => {
      made ??= make();
      made.then(
        ({ listener }) => listener(request, response),
        (error: Error) => response.destroy(error),
      );
    },
    close: async () => (await made)?.close(),
  };
}
