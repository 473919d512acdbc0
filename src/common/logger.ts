import { createLogger as createWinston, format, transports } from 'winston';
import type { Log, LogFields } from './log.ts';
import type { LogEntry, LogLevel } from './log-line.ts';
import { jsonLine, textLine } from './log-line.ts';

export interface LoggerOptions {
  /** The least important level that is written. At `debug` errors come with their stacks. */
  readonly level: LogLevel;
  /** `json`: an object a line. `text`: for people, coloured on a terminal. */
  readonly format: 'json' | 'text';
  /** Default stderr. */
  readonly stream?: NodeJS.WritableStream;
  readonly now?: () => Date;
}

/** A log of one line per entry: time (RFC 3339), level, message, then the fields. */
export function createLogger(options: LoggerOptions): Log {
  const { level, stream = process.stderr, now = () => new Date() } = options;
  const stacks = level === 'debug';
  const colours = hasColours(stream);
  const winston = createWinston({
    level,
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: format.printf(({ entry }) => {
      const known = entry as LogEntry;
      return options.format === 'json' ? jsonLine(known, stacks) : textLine(known, stacks, colours);
    }),
    transports: [new transports.Stream({ stream, eol: '\n' })],
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

function hasColours(stream: NodeJS.WritableStream): boolean {
  return 'hasColors' in stream && typeof stream.hasColors === 'function' && stream.hasColors() === true;
}
