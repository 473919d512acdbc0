/** The installation that a process belongs to; undefined for a person and for whatever else is no operator. */
export function installationOf(process: string): string | undefined {
  return /^(.+)-\d+\.\d+$/.exec(process)?.[1];
}
