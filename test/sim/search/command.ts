import { UsageError } from '../../../src/common/usage.ts';

/** What a command found; becomes its exit code. */
export type Found = 'nothing' | 'something';

/** Runs a command to its end: exit code 1 where it found something, 2 with one line for flags that cannot be used. */
export async function runCommand(command: () => Promise<Found>): Promise<void> {
  try {
    process.exitCode = (await command()) === 'nothing' ? 0 : 1;
  } catch (error) {
    if (!isUsageError(error)) throw error;
    console.error(error.message.split('\n')[0]);
    process.exitCode = 2;
  }
}

function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS_');
}
