/** When a cron schedule is due: "30 6 * * mon-fri", "@hourly", "@every 5m". Pure. */

/** A schedule that was understood. */
export interface Schedule {
  /** The first moment after this one, in milliseconds; `undefined` if there is none within five years. */
  next(after: number): number | undefined;
}

const NAMES = {
  month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  day: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};
const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MINUTE = 60_000;
const DAY = 86_400_000;
const FARTHEST_DAYS = 5 * 366;

/** `undefined` if the text is no schedule. @param timeZone - Default: UTC. */
export function scheduleFrom(text: string, timeZone: string | null | undefined): Schedule | undefined {
  const [, zone, rest] = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/.exec(text) ?? [undefined, timeZone ?? "UTC", text];
  const trimmed = (rest ?? "").trim();
  const interval = trimmed.startsWith("@every ") ? durationOf(trimmed.slice("@every ".length)) : undefined;
  if (interval !== undefined) return { next: (after) => Math.floor(after / 1000) * 1000 + Math.max(1000, interval) };
  const fields = (DESCRIPTORS[trimmed] ?? trimmed).split(/\s+/);
  if (fields.length !== 5) return undefined;
  const [minutes, hours, days, months, weekdays] = [
    readField(fields[0], 0, 59),
    readField(fields[1], 0, 23),
    readField(fields[2], 1, 31),
    readField(fields[3], 1, 12, NAMES.month),
    readField(fields[4], 0, 6, NAMES.day),
  ];
  const local = localTimes(zone === "Local" ? "UTC" : (zone ?? "UTC"));
  if (!minutes || !hours || !days || !months || !weekdays || !local) return undefined;
  // Of a day of the month and a day of the week, either is enough, unless one of them says nothing.
  const isFree = (field: string | undefined) => field?.startsWith("*") || field?.startsWith("?");
  const isEither = !isFree(fields[2]) && !isFree(fields[4]);
  const isDue = (month: number, day: number, weekday: number) =>
    months.has(month) && (isEither ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday));
  const times = [...hours]
    .flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute))
    .toSorted((a, b) => a - b);
  return { next: (after) => search(after, local, isDue, times) };
}

/** The next moment on a day that is due, at a time that is due. */
function search(
  after: number,
  { offsetAt }: LocalTimes,
  isDue: (month: number, day: number, weekday: number) => boolean,
  times: readonly number[],
): number | undefined {
  const localNow = after + offsetAt(after);
  for (let midnight = Math.floor(localNow / DAY) * DAY, days = 0; days < FARTHEST_DAYS; midnight += DAY, days++) {
    const date = new Date(midnight);
    if (!isDue(date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay())) continue;
    for (const time of times) {
      const local = midnight + time * MINUTE;
      const moment = local - offsetAt(local - offsetAt(local));
      // An hour that is left out in spring has no moment of its own.
      if (moment > after && moment + offsetAt(moment) === local) return moment;
    }
  }
  return undefined;
}

/** The values of one field; `undefined` if it is not one. */
function readField(
  text = "",
  low: number,
  high: number,
  names: readonly string[] = [],
): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  const read = (part: string) => {
    const named = names.indexOf(part.toLowerCase());
    return named !== -1 ? named + low : /^\d{1,4}$/.test(part) ? Number(part) : Number.NaN;
  };
  for (const range of text.split(",").filter(Boolean)) {
    const [span = "", step = "1"] = range.split("/");
    const [first = "", last] = span.split("-");
    const isAll = first === "*" || first === "?";
    const from = isAll ? low : read(first);
    const to = isAll ? high : last !== undefined ? read(last) : range.includes("/") ? high : from;
    const by = Number(step);
    if (!(from >= low && to <= high && from <= to && Number.isInteger(by) && by > 0)) return undefined;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return values;
}

interface LocalTimes {
  /** How far a zone's clocks are ahead of UTC at a moment, in milliseconds. */
  offsetAt(moment: number): number;
}

function localTimes(zone: string): LocalTimes | undefined {
  if (zone === "UTC" || zone === "Etc/UTC" || zone === "") return { offsetAt: () => 0 };
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      ...({ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const),
    });
    return {
      offsetAt: (moment) => {
        const minute = Math.floor(moment / MINUTE) * MINUTE;
        const parts = new Map(format.formatToParts(minute).map(({ type, value }) => [type, Number(value)]));
        const [year, month, day] = [parts.get("year") ?? 0, parts.get("month") ?? 1, parts.get("day") ?? 1];
        return Date.UTC(year, month - 1, day, parts.get("hour") ?? 0, parts.get("minute") ?? 0) - minute;
      },
    };
  } catch {
    return undefined;
  }
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: MINUTE, s: 1000, ms: 1 };

function durationOf(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.map(([all]) => all).join("") !== text || parts.length === 0) return undefined;
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNITS[unit ?? ""] ?? 0), 0);
}
