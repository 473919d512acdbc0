type Write = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** What the agent asks of a logger: one line per thing that happened. */
export interface AgentLog {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

export const silentLog: AgentLog = { info: () => {}, warn: () => {}, error: () => {} };
