import { createHash } from 'node:crypto';

/** Of so many other runs one at most has to be looked at. */
const sparseness = 64;

/**
 * Those of the runs, of so many characters each and without case, that are in one of the texts, in whatever case. The texts may be
 * far longer than the runs: each character takes nanoseconds.
 * @param salt what those who choose the texts do not know: they could choose such as have to be looked at everywhere
 */
export function runsIn(
  texts: Iterable<string>,
  runs: ReadonlySet<string>,
  length: number,
  salt: string,
): ReadonlySet<string> {
  const found = new Set<string>();
  if (runs.size === 0) return found;
  const codes = codesOf(salt);
  // After as many more characters as fill 32 bits one is out of the hash.
  const shift = Math.ceil(32 / length);
  const hashes = new Set<number>();
  /** How many runs have hashes that begin so: small enough to be looked at for every character. */
  const unused = Math.clz32(runs.size * sparseness);
  const counts = new Uint16Array(2 ** (32 - unused));
  const count = (run: string, by: number) => {
    let hash = 0;
    for (let at = 0; at < length; at++) hash = ((hash << shift) + codeOf(codes, run.charCodeAt(at))) | 0;
    hashes.add(hash);
    counts[hash >>> unused] = (counts[hash >>> unused] ?? 0) + by;
  };
  for (const run of runs) count(run, 1);
  for (const text of texts) {
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = ((hash << shift) + codeOf(codes, text.charCodeAt(at))) | 0;
      if (counts[hash >>> unused] === 0 || !hashes.has(hash)) continue;
      const run = fold(text.slice(at + 1 - length, at + 1));
      if (!runs.has(run) || found.has(run)) continue;
      found.add(run);
      // Once is enough: a text may be one run over and over.
      count(run, -1);
    }
  }
  return found;
}

function codeOf(codes: Int32Array, unit: number): number {
  return ((codes[unit & 0xff] ?? 0) + (codes[0x100 + (unit >>> 8)] ?? 0)) | 0;
}

/** By chance, of the lower and the upper byte of a UTF-16 unit; one for both cases of a letter. */
function codesOf(salt: string): Int32Array {
  const bytes = createHash('shake256', { outputLength: 2_048 }).update(salt).digest();
  return new Int32Array(Uint8Array.from(bytes).buffer).copyWithin(0x41, 0x61, 0x7b);
}

/** Without case, of one length with the text. */
export function fold(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
