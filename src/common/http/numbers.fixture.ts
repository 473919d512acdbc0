/** Numbers as by chance, the same each time: each call gives one from 0 to below `most`. */
export function numbersBelow(): (most: number) => number {
  let state = 1;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % most;
  };
}
