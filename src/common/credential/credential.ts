import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Runtime } from '../runtime.ts';
import { checkKey } from './key.ts';
import { KeyFile } from './key-file.ts';

/** Where an API key comes from. */
export interface Credential {
  key(): string;
  /** Calls `onChange` whenever the key has changed, until `signal` aborts. */
  watch(clock: Clock, log: Log, signal: AbortSignal, onChange: () => void): Promise<void>;
}

/** Undefined when neither is given; the file wins. @throws UsageError naming what cannot be used. */
export async function credentialOf(
  { keyFile, variable }: { readonly keyFile?: string | undefined; readonly variable?: string | undefined },
  runtime: Pick<Runtime, 'readFile'>,
): Promise<Credential | undefined> {
  if (keyFile !== undefined) {
    const file = await KeyFile.open(keyFile, runtime);
    return { key: () => file.key, watch: (...args) => file.watch(...args) };
  }
  const key = variable?.trim() ?? '';
  if (key === '') return undefined;
  checkKey(key, 'EDGE_OPERATOR_API_KEY');
  return { key: () => key, watch: async () => {} };
}
