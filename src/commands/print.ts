/** Writes to stdout and waits for it; a reader that has seen enough (`| head`) is no failure. */
export async function print(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const done = (error?: NodeJS.ErrnoException | null) => {
      if (error && error.code !== 'EPIPE') reject(error);
      else resolve();
    };
    process.stdout.once('error', done);
    process.stdout.write(text, done);
  });
}
