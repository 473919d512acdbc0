import { UsageError } from '../../src/common/usage.ts';

/** What a command found; becomes its exit code. */
export type Found = 'nothing' | 'something';

/** Runs a command to its end: exit code 1 where it found something, 2 with one line for flags that cannot be used. */
export async function runCommand(command: () => Promise<Found>): Promise<void> {
  try {
    process.exitCode = (await command()) === 'nothing' ? 0 : 1;
  } catch (error) {
    process.exitCode = refuse(error);
  }
}

/** What a command is told, before it begins: ends the process as `runCommand` does where that cannot be used. */
export function orRefused<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    process.exit(refuse(error));
  }
}

export function whole(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && Number.isSafeInteger(value)) return value;
  throw new UsageError(`${flag}: "${text}" is no whole number of at least ${least}`);
}

/** Names separated by commas, each of which has to be there. */
export function known(flag: string, text: string | undefined, names: readonly string[]): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const given = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (given.length === 0) throw new UsageError(`${flag}: names at least one`);
  const stranger = given.find((name) => !names.includes(name));
  if (stranger !== undefined) throw new UsageError(`${flag}: there is no "${stranger}"; there are ${names.join(', ')}`);
  return given;
}

function refuse(error: unknown): 2 {
  if (!isUsageError(error)) throw error;
  console.error(error.message.split('\n')[0]);
  return 2;
}

function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS_');
}
