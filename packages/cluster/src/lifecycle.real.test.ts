/** How clusters begin and end: side by side, refused, interrupted, killed, and never leaving anything behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sleep } from "./clock.ts";
import { openCluster, removeCluster } from "./cluster.ts";
import { folderOf, readRecord } from "./cluster-record.ts";
import { isAlive, markedProcesses } from "./process/processes.ts";
import { noRealNodes } from "./real-node/real-node.ts";
import { startCluster } from "./start.ts";
import { eventually, remains, traces, uniqueName } from "./testing/support.ts";

const started: ChildProcess[] = [];
const names: string[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const name of names.splice(0)) await removeCluster(name).catch(() => {});
});

function newName(purpose: string): string {
  const name = uniqueName(purpose);
  names.push(name);
  return name;
}

/** Starts a program of this package that shall be killed. Resolves when it has printed `until`. */
async function startProgram(
  file: string,
  args: string[],
  until: string,
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const read = (data: Buffer) => {
      output += data;
      if (output.includes(until)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`${file} ended with ${code}: ${output}`)));
  });
  return child;
}

const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.on("exit", resolve));
const gone = (name: string) =>
  eventually(`nothing is left of ${name}`, () => (remains(name).length === 0 ? true : undefined));

/** Kills the shell that would clean up after a dead parent, as if somebody had killed everything at once. */
function killReaper(name: string): void {
  const shells = readdirSync("/proc").filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return command[0] === "sh" && command.includes(folderOf(name));
    } catch {
      return false;
    }
  });
  expect(shells).toHaveLength(1);
  for (const pid of shells) process.kill(Number(pid), "SIGKILL");
}

describe("two clusters at once", () => {
  it("start side by side and know nothing of each other", async () => {
    const [first, second] = await Promise.all([
      startCluster({ name: newName("first"), nodes: 2 }),
      startCluster({ name: newName("second"), nodes: 3 }),
    ]);
    expect(first.server).not.toBe(second.server);
    expect((await first.api.list("/api/v1/nodes")).length).toBe(2);
    expect((await second.api.list("/api/v1/nodes")).length).toBe(3);

    await first.stop();
    expect(remains(first.name)).toEqual([]);
    expect((await second.api.list("/api/v1/nodes")).length).toBe(3);
    await second.stop();
    await second.stop(); // the second time there is nothing to do
    expect(remains(second.name)).toEqual([]);
  });

  it("of the same name: the second is refused, and the first not disturbed", async () => {
    const name = newName("twice");
    const outcomes = await Promise.allSettled([startCluster({ name }), startCluster({ name })]);
    const winners = outcomes.filter((outcome) => outcome.status === "fulfilled");
    const losers = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(winners).toHaveLength(1);
    expect(losers.map((loser) => loser.reason)).toMatchObject([{ code: "BERTH_CLUSTER_NAME_IN_USE" }]);
    expect(await openCluster(name).kubectl("get", "--raw", "/readyz")).toBe("ok");
  });
});

describe("bad input", () => {
  it.each([
    ["a name with a path in it", { name: "../up" }, "BERTH_CLUSTER_OPTION_INVALID"],
    ["a negative number of nodes", { nodes: -1 }, "BERTH_CLUSTER_OPTION_INVALID"],
    ["half a real node", { realNodes: 0.5 }, "BERTH_CLUSTER_OPTION_INVALID"],
    ["a port that is none", { port: 70_000 }, "BERTH_CLUSTER_OPTION_INVALID"],
    ["a folder without binaries", { assets: "/tmp" }, "BERTH_CLUSTER_ASSETS_WRONG"],
    ["a folder that does not exist", { assets: "/nowhere" }, "BERTH_CLUSTER_ASSETS_WRONG"],
    ["an image for nobody", { images: [{ name: "x", binary: "/nowhere" }] }, "BERTH_CLUSTER_OPTION_INVALID"],
    [
      "an image out of nothing",
      { realNodes: 1, images: [{ name: "x", folder: "/nowhere" }] },
      "BERTH_CLUSTER_IMAGE_INVALID",
    ],
    ["more real nodes than addresses", { realNodes: 251 }, "BERTH_CLUSTER_OPTION_INVALID"],
    ["a scheduler with a path as its name", { schedulers: { "a/b": {} } }, "BERTH_CLUSTER_OPTION_INVALID"],
  ])("%s is refused before anything is started", async (_, options, code) => {
    const name = newName("refused");
    await expect(startCluster({ name, ...options })).rejects.toMatchObject({ code });
    expect(remains(name)).toEqual([]);
  });

  it("a port in use is refused before anything is started", async () => {
    const name = newName("port");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await expect(startCluster({ name, port })).rejects.toMatchObject({
      code: "BERTH_CLUSTER_PORT_IN_USE",
      message: expect.stringContaining(String(port)),
    });
    server.close();
    expect(remains(name)).toEqual([]);
  });

  it("more than this machine's memory can hold is refused before anything is started", async () => {
    const name = newName("memory");
    const available = vi.spyOn(process, "availableMemory").mockReturnValue(500 * 1024 ** 2);
    await expect(startCluster({ name, nodes: 10 })).rejects.toMatchObject({
      code: "BERTH_CLUSTER_TOO_LITTLE_MEMORY",
      message: expect.stringContaining("500 MiB are available"),
    });
    available.mockRestore();
    expect(remains(name)).toEqual([]);
  });

  it("real nodes are refused to whoever is not root", async () => {
    const name = newName("user");
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      await expect(startCluster({ name, realNodes: 1 })).rejects.toMatchObject({ code: "BERTH_CLUSTER_NOT_ROOT" });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(remains(name)).toEqual([]);
  });

  it.skipIf(process.geteuid?.() !== 0)("real nodes are refused where programs are missing (needs root)", async () => {
    const name = newName("tools");
    vi.stubEnv("PATH", "/nowhere");
    await expect(startCluster({ name, realNodes: 1 })).rejects.toMatchObject({
      code: "BERTH_CLUSTER_TOOLS_MISSING",
      message: expect.stringMatching(/need containerd, .*apt-get install containerd/s),
    });
    vi.unstubAllEnvs();
    expect(remains(name)).toEqual([]);
  });

  it("a cluster that does not exist can be neither opened nor removed", async () => {
    expect(() => openCluster("nowhere")).toThrow(expect.objectContaining({ code: "BERTH_CLUSTER_NOT_FOUND" }));
    await expect(removeCluster("nowhere")).rejects.toMatchObject({ code: "BERTH_CLUSTER_NOT_FOUND" });
  });
});

describe("a start that does not succeed", () => {
  it("reports the end of the log of the component that died, and leaves nothing", async () => {
    const name = newName("broken");
    await expect(startCluster({ name, schedulers: { broken: { profilez: [] } } })).rejects.toMatchObject({
      code: "BERTH_CLUSTER_COMPONENT_DIED",
      message: expect.stringMatching(/unknown field .*profilez/),
    });
    expect(remains(name)).toEqual([]);
  });

  it("that is aborted ends soon and leaves nothing", async () => {
    const name = newName("aborted");
    const abort = new AbortController();
    const starting = startCluster({ name, nodes: 5, signal: abort.signal, onProgress: () => abort.abort() });
    await expect(starting).rejects.toMatchObject({ name: "AbortError" });
    expect(remains(name)).toEqual([]);
  });
});

const realNodes = noRealNodes() ? "0" : "1";

describe(`a parent killed with SIGKILL${realNodes === "0" ? " (without real nodes: this machine cannot run them)" : ""}`, () => {
  it("leaves no process, mount, network device, cgroup or folder", async () => {
    const name = newName("killed");
    const before = traces();
    const parent = await startProgram("testing/hold-cluster.ts", [name, realNodes], "ready");
    expect(markedProcesses(folderOf(name)).length).toBeGreaterThanOrEqual(5);
    parent.kill("SIGKILL");
    await gone(name);
    expect(traces()).toEqual(before);
  });

  it("together with its reaper: the next start under that name removes the remains first", async () => {
    const name = newName("reaped");
    const parent = await startProgram("testing/hold-cluster.ts", [name, realNodes], "ready");
    killReaper(name);
    parent.kill("SIGKILL");
    await ended(parent);
    const orphans = markedProcesses(folderOf(name));
    expect(orphans.length).toBeGreaterThanOrEqual(5);

    const cluster = await startCluster({ name, nodes: 1, realNodes: Number(realNodes) });
    const now = markedProcesses(folderOf(name));
    expect(orphans.filter((pid) => now.includes(pid))).toEqual([]);
    expect(await cluster.kubectl("get", "pods", "-A", "-oname")).toBe("");
    await cluster.stop();
    expect(remains(name)).toEqual([]);
  });

  it("together with its reaper: `down` removes the remains", async () => {
    const name = newName("downed");
    const parent = await startProgram("testing/hold-cluster.ts", [name, "0"], "ready");
    killReaper(name);
    parent.kill("SIGKILL");
    await ended(parent);
    await removeCluster(name);
    expect(remains(name)).toEqual([]);
  });

  it.each([0, 900, 3300, 4200])("%i ms into a start leaves nothing either", async (milliseconds) => {
    const name = newName(`early-${milliseconds}`);
    const path = fileURLToPath(new URL("testing/hold-cluster.ts", import.meta.url));
    const parent = spawn(process.execPath, [path, name, realNodes], { stdio: "ignore" });
    started.push(parent);
    await sleep(milliseconds);
    parent.kill("SIGKILL");
    await ended(parent);
    await gone(name);
  });

  it("or ended otherwise, in an environment in which programs elsewhere lose their way, leaves nothing", async () => {
    const scratch = mkdtempSync(join(tmpdir(), "berth-test-"));
    writeFileSync(join(scratch, "empty.cjs"), "");
    vi.stubEnv("BERTH_STATE", join(scratch, "state"));
    try {
      const name = newName("environment");
      const env = { ...process.env, BERTH_STATE: "state", NODE_OPTIONS: "--require ./empty.cjs" };
      const parent = await startProgram("testing/hold-cluster.ts", [name, "0"], "ready", { cwd: scratch, env });
      parent.kill("SIGTERM");
      await gone(name);
    } finally {
      vi.unstubAllEnvs();
      rmSync(scratch, { recursive: true, force: true });
    }
  });
});

describe("other ends", () => {
  it("a detached cluster outlives its starter, can be used by others, and is taken down by name", async () => {
    const name = newName("detached");
    const cluster = await startCluster({ name, nodes: 1, detached: true });
    expect(readRecord(folderOf(name))?.owner).toBeNull();
    const other = openCluster(name);
    await other.kill("kube-scheduler");
    await other.restart("kube-scheduler");
    expect(cluster.components.every(({ alive }) => alive)).toBe(true);
    await removeCluster(name);
    expect(remains(name)).toEqual([]);

    // Whoever still has a handle leaves the next cluster of that name alone.
    await using successor = await startCluster({ name });
    expect(isAlive(readRecord(folderOf(name))?.owner)).toBe(true);
    expect([cluster.exists, other.exists, successor.exists]).toEqual([false, false, true]);
    await expect(other.restart("etcd")).rejects.toMatchObject({ code: "BERTH_CLUSTER_NOT_FOUND" });
    await cluster.stop();
    expect(await successor.kubectl("get", "--raw", "/readyz")).toBe("ok");
  });

  it("Ctrl-C on `up --attach` takes the cluster down before the command ends", async () => {
    const name = newName("ctrl-c");
    const parent = await startProgram("cli/main.ts", ["up", "--name", name, "--attach"], "Ctrl-C takes it down");
    parent.kill("SIGINT");
    expect(await ended(parent)).toBe(0);
    expect(remains(name)).toEqual([]);
  });

  it("Ctrl-C in the middle of `up` ends it with 130 and leaves nothing", async () => {
    const name = newName("interrupt");
    const parent = await startProgram("cli/main.ts", ["up", "--name", name, "--nodes", "3"], "etcd");
    parent.kill("SIGINT");
    expect(await ended(parent)).toBe(130);
    expect(remains(name)).toEqual([]);
  });

  it("`down` in the middle of a start: the start fails, and nothing is left", async () => {
    const name = newName("overtaken");
    const starting = startCluster({
      name,
      nodes: 2,
      onProgress: (progress) => {
        if (progress.phase === "component" && progress.name === "kube-apiserver") removed = removeCluster(name);
      },
    });
    let removed: Promise<void> | undefined;
    await expect(starting).rejects.toThrow();
    await removed;
    expect(remains(name)).toEqual([]);
  });
});
