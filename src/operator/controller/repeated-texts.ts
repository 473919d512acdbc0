/** Of one resource there are some 20 such texts, so that those of about fifty are compared. */
const mostTexts = 1_024;
/** Of shorter ones the parser keeps one copy itself, and longer ones hardly repeat. */
const [shortestText, longestText] = [11, 256];

/**
 * One copy of each text that repeats, within an object or from object to object: half of what a cached resource takes are
 * texts, and most of these are the same in all of them. Bounded by forgetting everything now and then.
 */
export class RepeatedTexts {
  readonly #texts = new Map<string, string>();

  /** Puts the one copy in place of each text of a value that was just parsed, and is nobody else's yet. */
  share<T>(value: T): T {
    if (typeof value === 'string') return this.#of(value) as T;
    if (typeof value !== 'object' || value === null) return value;
    // In place: a copy would take more memory than what was parsed, in one piece, does.
    const parts = value as Record<string, unknown>;
    // Not `for … in`: what V8 compiles for that holds for objects as they were, and is thrown away with each that changes here.
    for (const name of Object.keys(parts)) {
      const part = parts[name];
      if (typeof part === 'string') parts[name] = this.#of(part);
      else if (typeof part === 'object') this.share(part);
    }
    return value;
  }

  #of(text: string): string {
    if (text.length < shortestText || text.length > longestText) return text;
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size === mostTexts) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
