import type { ChangeType } from '../store/history.ts';
import type { StoredObject } from '../store/stored-object.ts';

/** One line of a watch. */
export function eventLine(type: string, text: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${text}}\n`);
}

/** Lines of the newest change: made once for all watchers that are shown it in the same way. */
export class EventLines {
  readonly #lines = new Map<string, Buffer>();
  #stored: StoredObject | undefined;

  /** `shape` names what `text` depends on besides the object. */
  line(type: ChangeType, stored: StoredObject, shape: string, text: () => string): Buffer {
    if (this.#stored !== stored) this.#lines.clear();
    this.#stored = stored;
    const name = `${type} ${shape}`;
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const made = eventLine(type, text());
    this.#lines.set(name, made);
    return made;
  }
}
