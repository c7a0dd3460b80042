/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const between = (random: Random, low: number, high: number): number => low + (high - low) * random();

export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random());

export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

export const logNormal = (random: Random, median: number, spread: number): number =>
  median * Math.exp(spread * normal(random));
