/** `2026-01-31T08:15:30.123000Z`: what Kubernetes calls a MicroTime. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
