/** Building with the real Go, on a module small enough to build in seconds. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tryLock } from "../process/lock.ts";
import { eventually } from "../testing/support.ts";
import { findBinaries } from "./binaries.ts";
import { type BuildProgress, type BuildRecipe, build, outputFolder } from "./build.ts";

let scratch: string;
let recipe: BuildRecipe;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "berth-build-"));
  vi.stubEnv("BERTH_CACHE", join(scratch, "cache"));
  vi.stubEnv("KUBEBUILDER_ASSETS", undefined);
  const moduleFolder = join(scratch, "module");
  for (const program of ["one", "two"]) {
    mkdirSync(join(moduleFolder, program), { recursive: true });
    writeFileSync(join(moduleFolder, program, "main.go"), "package main\n\nfunc main() {}\n");
  }
  writeFileSync(join(moduleFolder, "go.mod"), "module example.org/small\n\ngo 1.21\n");
  writeFileSync(join(moduleFolder, "go.sum"), "");
  recipe = { name: "small", moduleFolder, ldflags: ["-s"], packages: { one: "./one", two: "./two" } };
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

const programs = (folder: string) => readdirSync(folder).filter((file) => !file.startsWith("."));

/** Another process that builds the same recipe. */
function buildElsewhere() {
  const code = `import { build } from ${JSON.stringify(import.meta.resolve("./build.ts"))};
    await build(${JSON.stringify(recipe)}, { onProgress: ({ state, program }) => console.log(state, program) });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  return { child, ended, output: () => output };
}

describe("build", () => {
  it("builds each program once and tells how it gets on", async () => {
    const told: BuildProgress[] = [];
    const folder = await build(recipe, { onProgress: (progress) => told.push(progress) });
    expect(programs(folder)).toEqual(["one", "two"]);
    expect(told.filter(({ state }) => state === "built").map(({ program, index, of }) => [program, index, of])).toEqual(
      [
        ["one", 1, 2],
        ["two", 2, 2],
      ],
    );

    const again: BuildProgress[] = [];
    expect(await build(recipe, { onProgress: (progress) => again.push(progress) })).toBe(folder);
    expect(again).toEqual([]);
  });

  it("shared by two processes does the work once", async () => {
    const [first, second] = [buildElsewhere(), buildElsewhere()];
    expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0]);
    const built = `${first.output()}${second.output()}`.split("\n").filter((line) => line.startsWith("built"));
    expect(built.sort()).toEqual(["built one", "built two"]);
  });

  it("that was cut off goes on where it stopped", async () => {
    const cut = buildElsewhere();
    await eventually("the first program is built", () => (cut.output().includes("built one") ? true : undefined));
    cut.child.kill("SIGKILL");
    await cut.ended;
    const folder = outputFolder(recipe);
    const first = statSync(join(folder, "one"));
    await build(recipe);
    expect(programs(folder)).toEqual(["one", "two"]);
    expect(statSync(join(folder, "one")).mtimeMs).toBe(first.mtimeMs);
  });

  it("passes on Go's message when it fails, and leaves no half program", async () => {
    writeFileSync(join(recipe.moduleFolder, "two", "main.go"), "package main\n\nfunc main() { nonsense }\n");
    await expect(build(recipe)).rejects.toMatchObject({
      code: "BERTH_CLUSTER_BUILD_FAILED",
      message: expect.stringContaining("undefined: nonsense"),
    });
    expect(programs(outputFolder(recipe))).toEqual(["one"]);
  });

  it("that is aborted ends with the reason it was given, and leaves no half program", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    await expect(build(recipe, { signal: abort.signal, onProgress: () => abort.abort(reason) })).rejects.toBe(reason);
    expect(readdirSync(outputFolder(recipe)).filter((file) => !file.startsWith(".lock"))).toEqual([]);
  });

  it("without Go and without assets says what to install or which variable to set", async () => {
    vi.stubEnv("PATH", "/nowhere");
    await expect(findBinaries()).rejects.toMatchObject({
      code: "BERTH_CLUSTER_GO_MISSING",
      message: expect.stringMatching(/install Go.*KUBEBUILDER_ASSETS/s),
    });
  });
});

describe("assets", () => {
  it("are taken from KUBEBUILDER_ASSETS, which must have all of them", async () => {
    const assets = join(scratch, "assets");
    mkdirSync(assets);
    vi.stubEnv("KUBEBUILDER_ASSETS", assets);
    for (const program of ["etcd", "kube-apiserver", "kubectl"])
      writeFileSync(join(assets, program), "", { mode: 0o755 });
    writeFileSync(join(assets, "kwok"), "", { mode: 0o644 });
    await expect(findBinaries()).rejects.toMatchObject({
      code: "BERTH_CLUSTER_ASSETS_WRONG",
      message: expect.stringContaining("no executable kube-controller-manager, kube-scheduler, kwok, kubelet"),
    });
    for (const program of ["kube-controller-manager", "kube-scheduler", "kubelet"]) {
      writeFileSync(join(assets, program), "", { mode: 0o755 });
    }
    rmSync(join(assets, "kwok"));
    writeFileSync(join(assets, "kwok"), "", { mode: 0o755 });
    expect(await findBinaries()).toMatchObject({ kwok: join(assets, "kwok") });
  });
});

describe("the lock", () => {
  it("is held by one at a time, and ends with the process that holds it", async () => {
    const file = join(scratch, "lock");
    const code = `import { tryLock } from ${JSON.stringify(import.meta.resolve("../process/lock.ts"))};
      globalThis.release = tryLock(${JSON.stringify(file)}); console.log("held"); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => holder.stdout.on("data", resolve));
    expect(tryLock(file)).toBeUndefined();
    holder.kill("SIGKILL");
    const release = await eventually("the lock is free", () => tryLock(file));
    expect(tryLock(file)).toBeUndefined();
    release();
    tryLock(file)?.();
  });
});
