import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, coreV1, HttpTransport, loadConnection } from "@berth/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "main.ts");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-sim-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts it in the folder; gives what it prints when it is ready. */
async function start(...args: string[]): Promise<{ child: ChildProcess; greeting: string }> {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder });
  let greeting = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${greeting}`)));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      greeting += text;
      if (greeting.includes("kubectl get nodes")) resolve();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      greeting += text;
    });
  });
  return { child, greeting };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return ended;
}

const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: "utf8" });

describe("npm run sim", () => {
  it("serves a cluster until it is told to end, and writes down what happened", async () => {
    const { child, greeting } = await start("--nodes", "3", "--kubeconfig", "k", "--log", "events.jsonl");
    expect(greeting).toMatch(/^A simulated cluster with 3 nodes at https:\/\/127\.0\.0\.1:\d+; Ctrl-C ends it\.\n/);
    const kubeconfig = join(folder, "k");
    expect(greeting).toContain(`export KUBECONFIG=${kubeconfig}`);
    // What lets anybody in is nobody else's to read.
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    const transport = new HttpTransport(loadConnection({ kubeconfig }));
    const nodes = await new Client(transport).list(coreV1.Node);
    await transport.close();
    expect(nodes.items.map(({ metadata }) => metadata.name)).toEqual(["node-0", "node-1", "node-2"]);
    expect(await end(child, "SIGINT")).toBe(0);
    const events = readFileSync(join(folder, "events.jsonl"), "utf8").trimEnd().split("\n");
    expect(events.map((line) => JSON.parse(line).key)).toEqual(expect.arrayContaining(["node-2"]));
  });

  it("says what can be said to it", () => {
    const { status, stdout } = run("--help");
    expect(status).toBe(0);
    for (const option of ["--nodes", "--speed", "--port", "--seed", "--kubeconfig", "--work", "--log"]) {
      expect(stdout).toContain(option);
    }
  });

  it.each([
    [["--nodes", "many"], "option '--nodes <count>' argument 'many' is invalid. Give a whole number from 0 to 10000."],
    [["--nodes", "2.5"], "Give a whole number from 0 to 10000."],
    [["--speed", "0"], "Give a number above 0."],
    [["--port", "70000"], "Give a whole number from 0 to 65535."],
    [["--colour"], "unknown option '--colour'"],
    [["now"], "too many arguments"],
  ])("refuses %j, and says why", (args, message) => {
    const { status, stderr } = run(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });

  it("refuses a work model that cannot be used, with a code and a remedy", () => {
    writeFileSync(join(folder, "work.yaml"), "kinds: [{ name: a, work: -1 }]");
    const { status, stderr } = run("--work", "work.yaml");
    expect(status).toBe(1);
    expect(stderr).toContain("SIM_WORK_MODEL_INVALID");
    expect(stderr).toContain("kinds[0].work");
    expect(run("--work", "nowhere.yaml").stderr).toContain("SIM_WORK_MODEL_NOT_FOUND");
  });
});
