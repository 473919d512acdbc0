import type { ManagedObject } from '../../operator/reconcile/resource/resource.ts';
import { conditionOf } from '../../operator/reconcile/resource/resource.ts';
import { table } from '../table.ts';

export interface Row {
  readonly kind: string;
  readonly name: string;
  readonly ready: string;
  readonly reason: string;
  readonly id: string;
}

const headings: Row = { kind: 'KIND', name: 'NAME', ready: 'READY', reason: 'REASON', id: 'ID' };
const columns = ['kind', 'name', 'ready', 'reason', 'id'] as const;

export function rowOf(object: ManagedObject): Row {
  const ready = conditionOf(object, 'Ready');
  return {
    kind: object.kind,
    name: object.metadata.name,
    ready: ready?.status ?? 'Unknown',
    reason: ready?.reason ?? '',
    id: typeof object.status?.id === 'string' ? object.status.id : '',
  };
}

export interface Screen {
  readonly isTTY: boolean;
  /** Of a terminal, as wide as it is now; 0 or undefined where that is not known. */
  columns(): number | undefined;
  write(text: string): void;
}

/** Lines of equal columns, headings first. */
function linesOf(rows: readonly Row[]): readonly string[] {
  return table([headings, ...rows].map((row) => columns.map((column) => row[column])));
}

/**
 * Shows rows as they change: on a terminal by drawing the table again in its place, elsewhere by a line for each row
 * that changed.
 */
export class LiveTable {
  readonly #out: Screen;
  #shown: readonly string[] = [];
  #drawn = 0;

  constructor(out: Screen) {
    this.#out = out;
  }

  show(rows: readonly Row[]): void {
    const lines = this.#out.isTTY ? linesOf(rows) : rows.map(line);
    const changed = lines.filter((text) => !this.#shown.includes(text));
    if (changed.length === 0 && lines.length === this.#shown.length) return;
    if (this.#out.isTTY) this.#draw(lines);
    else for (const text of changed) this.#out.write(`${text}\n`);
    this.#shown = lines;
  }

  /** Other text was written below the table: the next one starts anew. */
  detach(): void {
    this.#drawn = 0;
  }

  #draw(lines: readonly string[]): void {
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A`;
    const blank = lines.length < this.#drawn ? '\u001b[0J' : '';
    const columns = this.#out.columns() || Number.POSITIVE_INFINITY;
    this.#out.write(up + blank + lines.map((text) => `\u001b[2K${cut(text, columns)}\n`).join(''));
    this.#drawn = lines.length;
  }
}

/** A longer line would take two of the terminal's. */
function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}

function line({ kind, name, ready, reason, id }: Row): string {
  return [`${kind}/${name}`, `Ready=${ready}`, reason, id].filter(Boolean).join('  ');
}
