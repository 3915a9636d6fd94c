/** One submission of an application: what its pods are made of. */
import type { SparkApplication } from "./application.ts";
import type { SparkConf } from "./conf.ts";

/** One submission of an application. */
export interface Submission {
  /** With its defaults. */
  readonly application: SparkApplication;
  readonly conf: SparkConf;
  /** "spark-" and 32 digits. */
  readonly appId: string;
  /** What other objects of this submission are called after: "spark-pi-4fb8d18f2d5dd3d4". */
  readonly prefix: string;
  /** Where the driver and the executors keep their temporary files: "/var/data/spark-" and a UUID. */
  readonly localDirectory: string;
}

/** What names begin with: the application's, as far as names may have it, and something unique. */
export function resourcePrefix(appName: string, unique: string): string {
  return `${appName}-${unique}`
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/-+/g, "-")
    .replace(/^-/, "")
    .replace(/^[0-9]/, "x");
}
