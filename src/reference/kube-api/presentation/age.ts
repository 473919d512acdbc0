const units = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** An age as kubectl writes it: two units while the first is small (`3m20s`, `5h10m`, `2d3h`), one beyond. */
export function age(value: unknown, now: number): string {
  const then = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(then)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now - then) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  const index = units.findIndex(([name, size]) => seconds >= limits[name] * size);
  const [unit, size] = units[index] ?? units[4];
  const next = units[index + 1];
  const whole = Math.floor(seconds / size);
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[1]);
  const short = next === undefined || whole >= twoUnitsBelow[unit] || rest === 0;
  return short ? `${whole}${unit}` : `${whole}${unit}${rest}${next[0]}`;
}

/** From how many of a unit on ages are counted in it, and up to how many with the next smaller one. */
const limits = { y: 2, d: 2, h: 3, m: 2, s: 0 } as const;
const twoUnitsBelow = { y: 8, d: 8, h: 8, m: 10, s: 0 } as const;
