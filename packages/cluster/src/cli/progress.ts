/** Shows people how a start gets on: a line that changes on a terminal, a line now and then anywhere else. */
import type { BuildProgress } from "../binaries/build.ts";
import { stopwatch } from "../clock.ts";
import type { StartProgress } from "../options.ts";

export interface ProgressOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Seconds between two lines of a long build where lines cannot be overwritten, as in a log. */
const QUIET_SECONDS = 30;

/** Returns the function to give to `startCluster` as `onProgress`. */
export function showProgress(output: ProgressOutput = process.stderr): (progress: StartProgress) => void {
  const elapsed = stopwatch();
  const seconds = () => `${(elapsed() / 1000).toFixed(1).padStart(6)} s`;
  let lastBuildLine = Number.NEGATIVE_INFINITY;
  let lastReady = -1;

  const overwrite = (text: string, last: boolean) => {
    if (output.isTTY) output.write(`\r\u001b[2K${text}${last ? "\n" : ""}`);
    else if (last) output.write(`${text}\n`);
  };

  return (progress) => {
    if (progress.phase === "component") {
      overwrite(`${seconds()}  ${progress.name}`, true);
    } else if (progress.phase === "nodes") {
      if (progress.of === 0 || progress.ready === lastReady) return;
      lastReady = progress.ready;
      overwrite(`${seconds()}  ${progress.ready} of ${progress.of} nodes`, progress.ready === progress.of);
    } else {
      const { build } = progress;
      const due = build.state !== "building" || build.elapsedMs - lastBuildLine >= QUIET_SECONDS * 1000;
      if (due) lastBuildLine = build.elapsedMs;
      overwrite(buildLine(build), build.state === "built" || (!output.isTTY && due));
    }
  };
}

/** Pure: "[2/7] kube-apiserver: building with Go, 4 min 12 s so far (about 7 minutes on 2 cores, once)". */
export function buildLine({ state, program, index, of, elapsedMs }: BuildProgress): string {
  const which = `[${index}/${of}] ${program}`;
  if (state === "waiting") return `${which}: another process is building it; waiting`;
  const total = Math.floor(elapsedMs / 1000);
  const time = total < 60 ? `${total} s` : `${Math.floor(total / 60)} min ${total % 60} s`;
  if (state === "built") return `${which}: built, ${time} so far`;
  return `${which}: building with Go, ${time} so far (about 7 minutes on 2 cores, once)`;
}
