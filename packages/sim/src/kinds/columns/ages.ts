/** How kubectl writes durations: two or three significant figures, "5s", "3m20s", "2d4h". Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / SECOND);
  // Clocks may differ by a moment; by more, something is wrong.
  if (seconds < -1 || Number.isNaN(seconds)) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(milliseconds / MINUTE);
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(milliseconds / HOUR);
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return two(days, "d", hours % 24, "h");
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? two(years, "y", days % 365, "d") : `${years}y`;
}

/** How long ago a moment was, as objects have it; "<unknown>" if there is none. */
export function since(time: unknown, now: number): string {
  if (typeof time !== "string" || time === "") return "<unknown>";
  const moment = Date.parse(time);
  return Number.isNaN(moment) ? "<unknown>" : humanDuration(now - moment);
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
