import type { Metafile } from 'esbuild';
import { bundle, type Program } from '../../scripts/build.ts';

/** What a program is bundled into, which chunks of it are loaded when, and what is in them. */
export class Bundle {
  readonly #outputs: Metafile['outputs'];

  constructor({ outputs }: Metafile) {
    this.#outputs = outputs;
  }

  static async of(program: Program): Promise<Bundle> {
    return new Bundle((await bundle(program)).metafile);
  }

  /** The files that are bundled, or those in some of the chunks. */
  files(chunks: Iterable<string> = Object.keys(this.#outputs)): readonly string[] {
    return [...chunks].flatMap((chunk) => Object.keys(this.#outputs[chunk]?.inputs ?? {}));
  }

  /** What is loaded with modules of `src`; with `later` also what those may import as they run. */
  chunks(modules: readonly string[], { later }: { readonly later: boolean }): ReadonlySet<string> {
    const found = new Set(modules.map((module) => this.#chunkOf(`src/${module}`)));
    // A set goes on to what is added to it meanwhile.
    for (const chunk of found) {
      for (const { path, kind, external } of this.#outputs[chunk]?.imports ?? []) {
        if (external !== true && (later || kind !== 'dynamic-import')) found.add(path);
      }
    }
    return found;
  }

  /** Of what `run` loads at its start, in the bundle of its own. */
  startBytes(): number {
    const chunks = this.chunks(['image-run.ts', 'operator/operator.ts', 'common/logger.ts'], { later: false });
    return [...chunks].reduce((sum, chunk) => sum + (this.#outputs[chunk]?.bytes ?? 0), 0);
  }

  #chunkOf(entryPoint: string): string {
    const [chunk] = Object.entries(this.#outputs).find(([, output]) => output.entryPoint === entryPoint) ?? [];
    if (chunk === undefined) throw new Error(`${entryPoint} is not an entry point, nor imported when it is needed`);
    return chunk;
  }
}
