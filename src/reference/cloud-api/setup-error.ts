/** Settings the server cannot start with: a key, flag or file. The message is one line that says what to change. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
  readonly setting: 'apiKeys' | 'data' | 'seeds' | 'faults';

  constructor(setting: SetupError['setting'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.setting = setting;
  }
}
