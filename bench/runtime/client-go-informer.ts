/** client-go's informer on all Pods of a cluster: how long it takes to fill and what it then weighs. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BuildOptions, build, builtFolder, goBuild, type Recipe } from "./peer-build.ts";

const recipe: Recipe = { name: "client-go-informer", needs: "Go", commands: [goBuild("informer", ".")] };

export interface FilledInformer {
  /** From the start of the informer until its store has everything. */
  readonly seconds: number;
  readonly objects: number;
  /** Of the whole process, at that moment. */
  readonly residentBytes: number;
}

export interface FillOptions {
  readonly kubeconfig: string;
  /** Default: protobuf, which suits client-go best. */
  readonly contentType?: "protobuf" | "json";
  readonly signal: AbortSignal;
}

export function buildInformer(options: BuildOptions): Promise<void> {
  return build(recipe, options);
}

/** Runs it once, in a process of its own. */
export async function fillInformer({ kubeconfig, contentType, signal }: FillOptions): Promise<FilledInformer> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, CONTENT_TYPE: contentType ?? "protobuf" };
  const { stdout } = await promisify(execFile)(join(builtFolder(recipe), "informer"), [], { env, signal });
  return JSON.parse(stdout) as FilledInformer;
}
