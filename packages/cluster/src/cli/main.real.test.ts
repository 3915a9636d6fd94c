/** The command line, as a person uses it. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { remains, uniqueName } from "../testing/support.ts";

const name = uniqueName("cli");
const main = fileURLToPath(new URL("main.ts", import.meta.url));

function cluster(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

afterAll(() => {
  cluster("down", "--name", name);
  expect(remains(name)).toEqual([]);
});

describe("cluster", () => {
  it("up, kubectl, status, logs, kill, restart, down: the whole life of a cluster", () => {
    const up = cluster("up", "--name", name, "--nodes", "2", "--shape", "name=big,cpu=64,label:zone=a");
    expect(up).toMatchObject({ status: 0, stdout: expect.stringContaining(`cluster "${name}" is ready`) });
    expect(up.stderr).toContain("3 of 3 nodes");

    const nodes = cluster("kubectl", "--name", name, "get", "nodes", "-l", "zone=a", "-o", "name");
    expect(nodes).toEqual({ status: 0, stdout: "node/big-0\n", stderr: "" });
    expect(cluster("kubectl", "--name", name, "get", "nonsense").status).toBe(1);

    expect(cluster("status", "--name", name).stdout).toMatch(/3 of 3 ready[\s\S]*kube-scheduler +running/);
    expect(cluster("kill", "kube-scheduler", "--name", name).status).toBe(0);
    expect(cluster("status", "--name", name).stdout).toMatch(/kube-scheduler +dead/);
    expect(cluster("restart", "kube-scheduler", "--name", name).status).toBe(0);
    expect(cluster("logs", "--name", name).stdout).toMatch(/kube-apiserver +\/.*kube-apiserver\.log/);
    expect(cluster("logs", "kube-apiserver", "--lines", "3", "--name", name).stdout.trim().split("\n")).toHaveLength(3);

    const again = cluster("up", "--name", name);
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining("BERTH_CLUSTER_NAME_IN_USE") });

    expect(cluster("down", "--name", name)).toMatchObject({ status: 0, stdout: `cluster "${name}" is gone\n` });
    expect(remains(name)).toEqual([]);
  });

  it.each([
    [["kubectl", "--name", "nowhere", "get", "pods"], 1, "BERTH_CLUSTER_NOT_FOUND"],
    [["down", "--name", "nowhere"], 1, "BERTH_CLUSTER_NOT_FOUND"],
    [["up", "--nodes", "many"], 1, "BERTH_CLUSTER_OPTION_INVALID"],
    [["up", "--image", "nothing"], 1, "BERTH_CLUSTER_OPTION_INVALID"],
    [["up", "--scheduler", "s=/nowhere.yaml"], 1, "BERTH_CLUSTER_OPTION_INVALID"],
    [["up", "--nonsense"], 2, "unknown option"],
    [["nonsense"], 2, "unknown command"],
  ])("%j ends with %i and says why", (args, status, message) => {
    expect(cluster(...args)).toMatchObject({ status, stderr: expect.stringContaining(message) });
  });

  it("shows help with examples", () => {
    expect(cluster("--help")).toMatchObject({ status: 0, stdout: expect.stringContaining("npm run cluster -- up") });
  });
});
