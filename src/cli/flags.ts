import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import type { Address } from '../common/listen.ts';
import { UsageError } from '../common/usage.ts';
import type { SettingHelp } from '../operator/settings.ts';

/** For a flag that may be given more than once. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** A list that is given in parts is all of them: commander takes the last. */
const join = (value: string, before?: string): string => (before === undefined ? value : `${before},${value}`);

/** Placeholders of what is separated by commas. */
const lists: readonly unknown[] = ['names', 'hosts'];

/** A setting of the operator, as its flag and its variable. */
export function settingOption({ flag, variable, arg, about }: SettingHelp): Option {
  const option = new Option(arg === undefined ? flag : `${flag} <${arg}>`, about).env(variable);
  return lists.includes(arg) ? option.argParser(join) : option;
}

/** Of a flag that is not given there is nothing to say. @throws UsageError */
export function notEmpty<T extends string | undefined>(flag: string, value: T): T {
  if (value !== '') return value;
  throw new UsageError(`${flag} must not be empty`);
}

/** @throws UsageError */
export function wholeNumber(flag: string, value: string, maximum: number): number {
  const number = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN;
  if (number <= maximum) return number;
  throw new UsageError(`${flag} must be a whole number from 0 to ${maximum}, not "${value}"`);
}

/** @throws UsageError */
export function port(value: string): number {
  return wholeNumber('--port', value, 65_535);
}

/** @throws UsageError when the server could not have its address. */
export function refusedAddress(error: NodeJS.ErrnoException, { host, port }: Address): void {
  if (error.code === 'EADDRINUSE') throw new UsageError(`--port: ${port} is in use; pick another, or 0 for a free one`);
  if (error.code === 'EACCES') throw new UsageError(`--port: this user may not listen on ${port}; pick one above 1023`);
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') return;
  throw new UsageError(`--host: cannot listen on ${host}: ${error.code}`);
}

/** @throws UsageError */
export async function readText(flag: string, file: string): Promise<string> {
  notEmpty(flag, file);
  return await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag} ${file} cannot be read: ${error.code ?? error.message}`, { cause: error });
  });
}
