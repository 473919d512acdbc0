import type { Writable } from 'node:stream';
import { Output } from '../common/output.ts';

/** For what a command says while it runs on, which is worth neither its end nor a wait; default stdout. */
export function announcements(stream: Writable = process.stdout): Output {
  const notice = ({ lines }: { readonly lines: number }) => `(${lines} lines could not be written)\n`;
  return new Output(stream, { notice });
}
