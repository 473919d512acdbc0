import type { Chance } from '../core/random.ts';
import type { Scene } from './scene.ts';

/** Between two milliseconds, so that short times are as likely as long ones. */
export function logBetween(chance: Chance, least: number, most: number): number {
  return Math.round(least * (most / least) ** chance.next());
}

/** When something is done: mostly around one of the moments of the scene, never before `from` or after its end. */
export function someTime(chance: Chance, { moments, spanMs }: Pick<Scene, 'moments' | 'spanMs'>, from = 0): number {
  const near = moments.filter((moment) => moment >= from);
  const [uniform, isNear, moment] = [chance.next(), chance.chance(0.6), chance.next()];
  const offset = (chance.chance(0.3) ? -1 : 1) * logBetween(chance, 1, 5_000);
  const around = near[Math.floor(moment * near.length)];
  const at = isNear && around !== undefined ? around + offset : from + uniform * Math.max(0, spanMs - from);
  return Math.round(Math.min(spanMs, Math.max(from, at)));
}

/** Some time afterwards, within the scene. */
export function after(chance: Chance, { spanMs }: Scene, at: number, least = 1, most = 30_000): number {
  return Math.min(spanMs, at + logBetween(chance, least, most));
}

/** One after the other. */
export function times(chance: Chance, scene: Scene, count: number, from = 0): readonly number[] {
  const all: number[] = [];
  for (let at = someTime(chance, scene, from); all.length < count; at = after(chance, scene, at)) all.push(at);
  return all;
}
