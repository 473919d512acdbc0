/** Settings the server cannot start with: a key, flag or file. The message is one line that says what to change. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
