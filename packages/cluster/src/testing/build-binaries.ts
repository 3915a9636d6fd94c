/** Runs once before the tests of real processes: no test shall have to wait for, or run out of time in, a build. */
import { findBinaries } from "../binaries/binaries.ts";
import { showProgress } from "../cli/progress.ts";
import { ClusterError } from "../errors.ts";

export async function setup(): Promise<void> {
  const show = showProgress();
  try {
    await findBinaries({ onProgress: (build) => show({ phase: "binaries", build }) });
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    console.error(error.report);
    process.exit(1);
  }
}
