/** `850µs`, `12.3ms`, `1.25s` */
export function duration(nanoseconds: number): string {
  if (nanoseconds < 1e6) return `${Math.round(nanoseconds / 1e3)}µs`;
  if (nanoseconds < 1e9) return `${(nanoseconds / 1e6).toFixed(1)}ms`;
  return `${(nanoseconds / 1e9).toFixed(2)}s`;
}
