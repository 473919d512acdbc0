import { Writable } from 'node:stream';
import { createLogger as createWinston, format, transports } from 'winston';
import type { Log, LogFields } from './log.ts';
import type { LogEntry, LogLevel } from './log-line.ts';
import { jsonLine, textLine } from './log-line.ts';
import { type Lost, Output } from './output.ts';

export interface LoggerOptions {
  /** The least important level that is written. At `debug` errors come with their stacks. */
  readonly level: LogLevel;
  /** `json`: an object a line. `text`: for people, coloured on a terminal. */
  readonly format: 'json' | 'text';
  /** Default stderr. */
  readonly stream?: Writable;
  readonly now?: () => Date;
}

/**
 * A log of one line per entry: time (RFC 3339), level, message, then the fields. What cannot be written is dropped, and
 * the log says how many lines that were as soon as it can.
 */
export function createLogger(options: LoggerOptions): Log {
  const { level, stream = process.stderr, now = () => new Date() } = options;
  const stacks = level === 'debug';
  const colours = hasColours(stream);
  const lineOf = (entry: LogEntry) =>
    options.format === 'json' ? jsonLine(entry, stacks) : textLine(entry, stacks, colours);
  const notice = ({ lines, since }: Lost) => {
    const fields = { lines, since: since.toISOString() };
    return `${lineOf({ time: now().toISOString(), level: 'warn', message: 'lines of the log were lost', fields })}\n`;
  };
  const output = new Output(stream, { notice, now });
  const winston = createWinston({
    level,
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: format.printf(({ entry }) => lineOf(entry as LogEntry)),
    transports: [new transports.Stream({ stream: takenBy(output), eol: '\n' })],
  });
  return logTo((entryLevel, message, fields) => {
    const entry: LogEntry = { time: now().toISOString(), level: entryLevel, message, fields };
    winston.log({ level: entryLevel, message, entry });
  }, {});
}

function logTo(write: (level: LogLevel, message: string, fields: LogFields) => void, own: LogFields): Log {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => write(level, message, { ...own, ...fields });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => logTo(write, { ...own, ...fields }),
  };
}

/** What winston writes to: it hands over a line at a time, and never has to wait. */
function takenBy(output: Output): Writable {
  return new Writable({
    decodeStrings: false,
    write: (line: string, _, done) => {
      output.write(line);
      done();
    },
  });
}

function hasColours(stream: object): boolean {
  return 'hasColors' in stream && typeof stream.hasColors === 'function' && stream.hasColors() === true;
}
