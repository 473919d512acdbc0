/** The file of objects cannot be used, or not now: the message says which and why. */
export class DataError extends Error {
  override readonly name = 'DataError';
}
