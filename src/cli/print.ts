/** Writes to stdout and waits for it; a reader that has seen enough (`| head`) is no failure. */
export async function print(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const { stdout } = process;
    const done = (error?: NodeJS.ErrnoException | null) => {
      // After a failure the event is yet to come.
      if (!error) stdout.off('error', done);
      if (error && error.code !== 'EPIPE') reject(error);
      else resolve();
    };
    stdout.once('error', done);
    stdout.write(text, done);
  });
}
