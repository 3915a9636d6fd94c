/** How raw scores become points from 0 to 100. Pure; in place, since there are many. */

const MOST = 100;

/** In proportion to the highest; reversed if less is better. */
export function normalize(scores: number[], reversed: boolean): void {
  let highest = 0;
  for (const score of scores) if (score > highest) highest = score;
  for (let index = 0; index < scores.length; index++) {
    const points = highest === 0 ? 0 : Math.floor((MOST * (scores[index] as number)) / highest);
    scores[index] = reversed ? MOST - points : points;
  }
}

/** In proportion to where they are between the lowest and the highest. */
export function stretch(scores: number[]): void {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const score of scores) {
    if (score < lowest) lowest = score;
    if (score > highest) highest = score;
  }
  const range = highest - lowest;
  for (let index = 0; index < scores.length; index++)
    scores[index] = range > 0 ? Math.trunc(MOST * (((scores[index] as number) - lowest) / range)) : 0;
}
