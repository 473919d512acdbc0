/**
 * As Promise.all, but where one fails the others have ended too: the connection is closed next, and what is yet to be sent would open
 * it anew.
 */
export async function allOf<T>(asked: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(asked);
  return Promise.all(asked);
}
