import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ClusterError } from "../errors.ts";
import { clusterPlaces } from "../places.ts";
import { died } from "./component.ts";
import { freePort, onFreePorts } from "./ports.ts";

describe("a port that somebody else was quicker to take", () => {
  const taken = new ClusterError("BERTH_CLUSTER_PORT_IN_USE", "taken");

  it("is told from other reasons to die by the component's log", () => {
    const places = clusterPlaces(mkdtempSync(join(tmpdir(), "berth-ports-")));
    mkdirSync(places.logs, { recursive: true });
    writeFileSync(places.log("etcd"), "listen tcp 127.0.0.1:26933: bind: address already in use\n");
    writeFileSync(places.log("kwok"), "unknown flag: --x\n");
    expect(died(places, "etcd").code).toBe("BERTH_CLUSTER_PORT_IN_USE");
    expect(died(places, "kwok").code).toBe("BERTH_CLUSTER_COMPONENT_DIED");
  });

  it("is replaced by another", async () => {
    const tried: number[] = [];
    const port = await onFreePorts(async () => {
      tried.push(await freePort());
      if (tried.length < 3) throw taken;
      return tried.at(-1);
    });
    expect(new Set(tried).size).toBe(3);
    expect(port).toBe(tried[2]);
  });

  it("is an error if it happens every time, and nothing else is tried again", async () => {
    let attempts = 0;
    const fails = (error: Error) =>
      onFreePorts(async () => {
        attempts++;
        throw error;
      }, 4);
    await expect(fails(taken)).rejects.toBe(taken);
    expect(attempts).toBe(4);
    await expect(fails(new Error("other"))).rejects.toThrow("other");
    expect(attempts).toBe(5);
  });
});
