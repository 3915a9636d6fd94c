/** The command as people call it: processes, exit codes, standard output and standard error. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PROGRAM = new URL("./main.ts", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "berth-cli-"));
const { BERTH_URL: _url, BERTH_TOKEN: _token, KUBECONFIG: _config, ...inherited } = process.env;
const env = { ...inherited, XDG_STATE_HOME: folder, NO_COLOR: "1" };

function berth(...given: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...given], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

/** Says so, and nothing else goes wrong. */
function said(...given: string[]): string {
  const { status, stdout, stderr } = berth(...given);
  expect({ status, stderr }, given.join(" ")).toEqual({ status: 0, stderr: "" });
  return stdout;
}

const manifest = (name: string, seconds: number) => `kind: BatchJob
metadata: { name: ${name}, labels: { team: a } }
spec:
  executors: { preferred: 2 }
  jobSpec:
    template:
      metadata: { annotations: { berth.dev/run-time: ${seconds}s } }
      spec: { containers: [{ name: main, image: busybox }] }
`;

/** `berth up`, once it says what to try next; and what it has said. */
async function started(flags: readonly string[], home = folder): Promise<{ up: ChildProcess; text: string }> {
  const given = ["up", "--port", "0", "--no-view", ...flags];
  const up = spawn(process.execPath, [PROGRAM, ...given], { env: { ...env, XDG_STATE_HOME: home } });
  let text = "";
  up.stderr?.on("data", (chunk) => {
    text += String(chunk);
  });
  for await (const chunk of up.stdout ?? []) {
    text += String(chunk);
    if (text.includes("get berth")) break;
  }
  return { up, text };
}

async function interrupted(up: ChildProcess): Promise<void> {
  const ended = once(up, "exit");
  up.kill("SIGINT");
  await ended;
}

describe("berth", () => {
  let up: ChildProcess;
  let text = "";
  beforeAll(async () => {
    ({ up, text } = await started(["--nodes", "2"]));
    writeFileSync(join(folder, "more.yaml"), manifest("later", 3600));
    writeFileSync(join(folder, "jobs.yaml"), `${manifest("one", 3600)}---\n${manifest("two", 3600)}`);
  });
  afterAll(async () => {
    await interrupted(up);
    rmSync(folder, { recursive: true, force: true });
  });

  it("up says where it is and what to try", () => {
    expect(text).toMatch(/… ready in \d/);
    expect(text).toMatch(/Berth is at http:\/\/127\.0\.0\.1:\d+/);
  });

  it("submits, shows, explains and decides", () => {
    expect(said("submit", "-f", join(folder, "jobs.yaml"), "--dry-run")).toContain("job/one submitted (dry run)");
    expect(berth("get", "jobs")).toEqual({ status: 0, stdout: "", stderr: "No jobs found.\n" });
    expect(said("submit", "-f", join(folder, "jobs.yaml"))).toBe("job/one submitted\njob/two submitted\n");
    expect(said("get", "jobs", "-o", "name")).toBe("job/one\njob/two\n");
    expect(said("get", "jobs", "-l", "team=b", "-o", "name").trim()).toBe("");
    const [header, first] = said("get", "jobs").split("\n");
    expect(header?.split(/ +/)).toEqual(["NAME", "KIND", "PHASE", "EXECUTORS", "TESTBED", "SLOTS", "RUNS", "AGE"]);
    expect(first).toMatch(/^one +job +Waiting/);
    expect(JSON.parse(said("get", "job/one", "-o", "json"))).toMatchObject({ name: "one", waiting: true });
    expect(said("explain", "one")).toMatch(/number 1 of 2 in the queue/);
    const decision =
      "kind: Scheduling\nmetadata: {name: s}\nspec: {testbed: {name: main}, slotBased: [{name: one, slots: [0, 3]}]}";
    writeFileSync(join(folder, "decision.yaml"), decision);
    expect(said("submit", "-f", join(folder, "decision.yaml"))).toBe("scheduling/s submitted\n");
    expect(said("get", "testbeds")).toMatch(/^main +2 +4/m);
    expect(said("get", "nodes", "-o", "wide")).toMatch(/^node-0 +True +True +main-0,main-1/m);
    expect(said("release", "one")).toBe("job/one released\n");
    expect(said("delete", "two")).toBe("job/two deleted\n");
  });

  it("up has virtual time as well, which stands still when all jobs have ended", async () => {
    const { up, text } = await started(["--virtual-time", "--demo", "backfill"], join(folder, "virtual"));
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "";
    const time = async () => (await (await fetch(`${url}/v1/time`)).json()) as { time: number; clock: string };
    let phases: string[] = [];
    while (phases.length < 12 || phases.some((phase) => phase !== "Completed")) {
      const jobs: { phase: string }[] = JSON.parse(said("get", "jobs", "-o", "json", "--url", url)).items;
      phases = jobs.map(({ phase }) => phase);
    }
    const ages = said("get", "jobs", "--no-headers", "--url", url).trim().split("\n");
    for (const line of ages) expect(line).toMatch(/ \d+m(\d\ds)?$/);
    let before = await time();
    expect(before).toMatchObject({ clock: "virtual" });
    // What was decided is tidied up for a moment.
    for (let now = await time(); now.time !== before.time; now = await time()) before = now;
    await interrupted(up);
  });

  it("asks a cluster as a plugin of kubectl does", () => {
    expect(said("get", "testbeds", "-A")).toMatch(/^default +main/m);
    expect(said("get", "slots", "-n", "default", "--no-headers").trim().split("\n")).toHaveLength(4);
  });

  it("tells what was wrong, with a code, and ends with 1 or, if it was called wrongly, with 2", () => {
    expect(berth("explain", "nobody")).toMatchObject({ status: 1, stdout: "" });
    expect(berth("explain", "nobody").stderr).toMatch(/there is no job nobody \(BERTH_NOT_FOUND\)/);
    expect(berth("get", "nothing")).toMatchObject({ status: 2, stdout: "" });
    expect(berth("get", "jobs", "-o", "what").status).toBe(2);
    expect(berth("what").status).toBe(2);
    expect(berth("submit", "-f", "/nowhere.yaml").stderr).toContain("BERTH_CLI_FILE");
    expect(berth("get", "jobs", "--url", "http://127.0.0.1:1").stderr).toContain("BERTH_CLI_NO_GATEWAY");
    const elsewhere = { ...env, XDG_STATE_HOME: join(folder, "empty") };
    const alone = spawnSync(process.execPath, [PROGRAM, "get", "jobs"], { env: elsewhere, encoding: "utf8" });
    expect(alone).toMatchObject({ status: 1 });
    expect(alone.stderr).toContain("BERTH_CLI_NO_GATEWAY");
  });

  it("helps", () => {
    expect(said("--help")).toContain("up --demo");
    expect(said("version")).toMatch(/^berth \d/);
    for (const shell of ["bash", "zsh", "fish"]) expect(said("completion", shell)).toContain("schedulings");
    expect(said("manifests")).toContain("kind: CustomResourceDefinition");
    expect(said("manifests", "--scheduler-config")).toContain("kind: KubeSchedulerConfiguration");
  });

  it("loads only what a command needs: whoever asks a gateway need not wait for Kubernetes", () => {
    const hook = `import { registerHooks } from "node:module";
      registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
    const loaded = (...given: string[]) => {
      const args = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`, PROGRAM, ...given];
      const { stderr, status } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
      expect(status, stderr).toBe(0);
      return new Set([...stderr.matchAll(/packages\/([a-z]+)\/src\//g)].map(([, name]) => name));
    };
    expect(loaded("version")).toEqual(new Set(["cli"]));
    for (const noun of ["jobs", "slots", "testbeds"]) expect(loaded("get", noun)).toEqual(new Set(["cli", "sdk"]));
    expect(loaded("get", "testbeds", "-A")).toContain("kube");
  });

  it("watch writes a line for each thing that happens, if there is no terminal", async () => {
    const watching = spawn(process.execPath, [PROGRAM, "watch"], { env });
    let lines = "";
    for await (const chunk of watching.stdout) {
      if (lines === "") said("submit", "-f", join(folder, "jobs.yaml").replace("jobs", "more"));
      lines += String(chunk);
      if (lines.includes("job/later Waiting")) break;
    }
    watching.kill("SIGINT");
    expect(lines).toContain("job/one");
  });
});
