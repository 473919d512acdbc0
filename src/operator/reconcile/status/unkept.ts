import type { Log } from '../../../common/log.ts';
import { mergePatch } from '../resource/json.ts';

type Status = Readonly<Record<string, unknown>>;

/**
 * What the statuses of a kind are not as though it was written: definitions of an older release do not know it. Told once, not for
 * each resource.
 */
export class Unkept {
  readonly #told = new Set<string>();

  /** Answers whether something is not as it was written. */
  look(written: Status, wanted: Status, kind: string, log: Log): boolean {
    const fields = Object.keys(mergePatch(written, wanted) ?? {});
    const news = fields.filter((field) => !this.#told.has(field));
    for (const field of news) this.#told.add(field);
    const what = `${kind}: ${news.map((field) => `status.${field}`).join(', ')}`;
    if (news.length > 0)
      log.warn(`Kubernetes does not keep what is written of ${what}; are the definitions of this release installed?`);
    return fields.length > 0;
  }
}
