/** When a cron job runs, as it is written: "0 3 * * mon-fri", "@hourly". Only whether it can be read. Pure. */

interface Bounds {
  readonly low: number;
  readonly high: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Bounds[] = [
  { low: 0, high: 59 },
  { low: 0, high: 23 },
  { low: 1, high: 31 },
  { low: 1, high: 12, names: MONTHS },
  { low: 0, high: 6, names: DAYS },
];
const DESCRIPTORS = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);
const DURATION = /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$/;
const NUMBER = /^[+-]?\d+$/;

/** What is wrong with it; `undefined` if nothing is. */
export function scheduleProblem(given: string): string | undefined {
  let schedule = given;
  if (schedule.startsWith("TZ=") || schedule.startsWith("CRON_TZ=")) {
    const space = schedule.indexOf(" ");
    const zone = schedule.slice(schedule.indexOf("=") + 1, space);
    if (space === -1 || !isZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    schedule = schedule.slice(space).trim();
  }
  if (schedule.startsWith("@")) {
    if (DESCRIPTORS.has(schedule)) return undefined;
    if (!schedule.startsWith("@every ")) return `unrecognized descriptor: ${schedule}`;
    const duration = schedule.slice("@every ".length);
    if (DURATION.test(duration)) return undefined;
    return `failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(duration)}`;
  }
  const fields = schedule.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  }
  for (const [index, bounds] of FIELDS.entries()) {
    for (const range of (fields[index] as string).split(",")) {
      const problem = range === "" ? undefined : rangeProblem(range, bounds);
      if (problem) return problem;
    }
  }
  return undefined;
}

/** Whether there is a time zone of that name. */
export function isZone(name: string): boolean {
  if (name === "" || name === "UTC" || name === "Local") return true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [span = "", stepText, ...moreSteps] = range.split("/");
  const [lowText = "", highText, ...moreHyphens] = span.split("-");
  let [low, high] = [bounds.low, bounds.high];
  if (lowText !== "*" && lowText !== "?") {
    const first = readNumber(lowText, bounds);
    if (typeof first === "string") return first;
    if (moreHyphens.length > 0) return `too many hyphens: ${range}`;
    const last = highText === undefined ? first : readNumber(highText, bounds);
    if (typeof last === "string") return last;
    [low, high] = [first, last];
  }
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  let step = 1;
  if (stepText !== undefined) {
    const read = readNumber(stepText, { low: 0, high: 0 });
    if (typeof read === "string") return read;
    step = read;
    if (highText === undefined) high = bounds.high;
  }
  if (low < bounds.low) return `beginning of range (${low}) below minimum (${bounds.low}): ${range}`;
  if (high > bounds.high) return `end of range (${high}) above maximum (${bounds.high}): ${range}`;
  if (low > high) return `beginning of range (${low}) beyond end of range (${high}): ${range}`;
  return step === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

function readNumber(text: string, { names, low }: Bounds): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named !== -1) return named + low;
  if (!NUMBER.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}
