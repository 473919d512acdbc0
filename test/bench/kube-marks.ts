/** A moment inside an object, readable without parsing it. The monotonic clock is the same in all processes. */
const prefix = '@@';
const digits = 18;
const length = prefix.length + digits;

export function mark(): string {
  return prefix + process.hrtime.bigint().toString().padStart(digits, '0');
}

/** Finds the moments in a stream, also those that are cut in two. */
export class MarkReader {
  #rest = Buffer.alloc(0);

  read(chunk: Buffer): readonly bigint[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const found: bigint[] = [];
    let end = Math.max(0, bytes.length - length + 1);
    for (
      let at = bytes.indexOf(prefix);
      at !== -1 && at + length <= bytes.length;
      at = bytes.indexOf(prefix, at + length)
    ) {
      found.push(BigInt(bytes.toString('latin1', at + prefix.length, at + length)));
      end = Math.max(end, at + length);
    }
    this.#rest = Buffer.from(bytes.subarray(end));
    return found;
  }
}

export function millisecondsSince(moment: bigint): number {
  return Number(process.hrtime.bigint() - moment) / 1e6;
}
