import type { Clock } from '../clock.ts';
import type { Log } from '../telemetry/log.ts';
import { KeyFile } from './key-file.ts';

/** Where an API key comes from. */
export interface Credential {
  key(): string;
  /** Calls `onChange` whenever the key has changed, until `signal` aborts. */
  watch(clock: Clock, log: Log, signal: AbortSignal, onChange: () => void): Promise<void>;
}

/** Undefined when neither is given. Throws when the file cannot be read or is empty. */
export function credentialOf(keyFile: string | undefined, key: string | undefined): Credential | undefined {
  if (keyFile !== undefined) {
    const file = new KeyFile(keyFile);
    return { key: () => file.key, watch: (...args) => file.watch(...args) };
  }
  return key === undefined || key === '' ? undefined : { key: () => key, watch: async () => {} };
}
