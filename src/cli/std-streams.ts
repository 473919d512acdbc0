/** How long a process that has nothing left to do waits for those who read what it wrote. */
const patienceMs = 2_000;

const streams = () => [process.stdout, process.stderr];

/** An error of theirs would end the process; whoever needs to know that a write failed is told by its callback. */
export function outliveStreams(): void {
  for (const stream of streams()) stream.on('error', () => {});
}

/** Ends the process although nobody reads what it wrote last: what waits to be written would keep it alive for ever. */
export function endUnread(): void {
  if (streams().every(({ writableLength }) => writableLength === 0)) return;
  setTimeout(() => process.exit(), patienceMs).unref();
}
