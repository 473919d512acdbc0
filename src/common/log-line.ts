import { styleText } from 'node:util';
import type { LogFields } from './log.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export interface LogEntry {
  /** RFC 3339. */
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

const longestCauseChain = 5;
/** Characters of one text in a line: what others said may be of any length. */
const longestText = 16_384;
const colourOf = { error: 'red', warn: 'yellow', info: 'green', debug: 'gray' } as const;

/** The entry's own keys cannot be overwritten by a field of the same name. */
export function jsonLine({ time, level, message, fields }: LogEntry, stacks: boolean): string {
  const own = { time, level, message };
  return json({ ...own, ...fields, ...own }, stacks);
}

export function textLine({ time, level, message, fields }: LogEntry, stacks: boolean, colours: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${paint('dim', `${name}=`)}${shown(value, stacks)}`);
  const head = `${paint('dim', time)} ${paint(colourOf[level], level.toUpperCase().padEnd(5))}`;
  return [head, oneLine(message), ...pairs].join(' ');
}

function shown(value: unknown, stacks: boolean): string {
  if (value instanceof Error && !stacks) return JSON.stringify(cut([value.message, ...causes(value)].join(': ')));
  const text = typeof value === 'string' ? cut(value) : json(value, stacks);
  return typeof value === 'string' && !/^[^\s"=]+$/.test(text) ? JSON.stringify(text) : text;
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}… (${text.length} characters)`;
}

function oneLine(message: string): string {
  return cut(message).replace(/\s*[\r\n]+\s*/g, ' ');
}

function json(value: unknown, stacks: boolean): string {
  const readable = (_key: string, item: unknown) => {
    if (item instanceof Error) return errorFields(item, stacks);
    if (typeof item === 'string') return cut(item);
    return typeof item === 'bigint' ? String(item) : item;
  };
  try {
    return JSON.stringify(value, readable);
  } catch (error) {
    // A log line is no place to fail: what cannot be written (a cycle) is said instead.
    const { time, level, message } = value as Partial<LogEntry>;
    return JSON.stringify({ time, level, message, unwritable: error instanceof Error ? error.name : 'value' });
  }
}

function errorFields(error: Error, stacks: boolean): LogFields {
  const chain = causes(error);
  return {
    message: error.message,
    ...text(error, 'code'),
    ...text(error, 'reason'),
    ...(chain.length === 0 ? {} : { causes: chain }),
    ...(stacks ? { stack: error.stack } : {}),
  };
}

function text(error: Error, name: 'code' | 'reason'): LogFields {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' || typeof value === 'number' ? { [name]: value } : {};
}

function causes(error: Error): readonly string[] {
  const messages: string[] = [];
  let cause: unknown = error.cause;
  while (cause !== undefined && messages.length < longestCauseChain) {
    messages.push(cause instanceof Error ? cause.message : String(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return messages;
}
