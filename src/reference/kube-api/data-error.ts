/** The folder for objects cannot be used: the message says which file and why. */
export class DataError extends Error {
  override readonly name = 'DataError';
}
