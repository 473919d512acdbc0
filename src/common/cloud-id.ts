import { z } from 'zod';

/** What an id of the cloud looks like: a path of the API can carry it, and means that object alone by it. */
export const usableID = { pattern: /^[A-Za-z0-9_-]+$/, longest: 128 } as const;

/** Whether requests may name an object by this id: ids are written by whoever may write a resource. */
export function isUsableID(id: string): boolean {
  return id.length <= usableID.longest && usableID.pattern.test(id);
}

/** One that is read, or written into a spec. */
export const cloudID = z.string().min(1).max(usableID.longest).regex(usableID.pattern);
