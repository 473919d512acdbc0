/** There was no file descriptor for a connection to a local server; the message says why. */
export class DescriptorsExhausted extends Error {
  override readonly name = 'DescriptorsExhausted';
}

/** Also where the system says so: somebody else took what was kept in reserve. */
export function isExhaustion(error: NodeJS.ErrnoException): boolean {
  return error instanceof DescriptorsExhausted || error.code === 'EMFILE' || error.code === 'ENFILE';
}
