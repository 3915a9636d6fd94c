/** Forgets what was noted at a moment or before it. @param times - In the order in which they were noted. */
export function forgetUntil(moment: number, times: Map<string, number>): void {
  for (const [key, time] of times) {
    if (time > moment) return;
    times.delete(key);
  }
}
