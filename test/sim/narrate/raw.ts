/** One line of a trace, taken apart. */
export interface Raw {
  readonly time: string;
  readonly who: string;
  readonly what: string;
  readonly line: string;
}

export function rawOf(line: string): Raw {
  const [, time = '', who = '', what = ''] = /^((?:\d+d )?[\d:.]+) (\S+) +(.*)$/s.exec(line) ?? [];
  return { time, who, what, line };
}

/** What a line says of one request. */
export interface Step {
  readonly id: number;
  readonly step: 'sent' | 'acted' | 'answered' | 'failed' | 'streamed';
  /** Without number and arrow. */
  readonly rest: string;
}

const marks = { '->': 'sent', '<-': 'answered', '<x': 'failed', '<~': 'streamed' } as const;

export function stepOf(what: string): Step | undefined {
  const [, mark, id, rest = ''] = /^(->|<-|<x|<~)(?: \S+)? #(\d+) ?(.*)$/s.exec(what) ?? [];
  if (mark !== undefined) return { id: Number(id), step: marks[mark as keyof typeof marks], rest };
  const [, acted, answer = ''] = /^#(\d+) (.*)$/s.exec(what) ?? [];
  return acted === undefined ? undefined : { id: Number(acted), step: 'acted', rest: answer };
}
