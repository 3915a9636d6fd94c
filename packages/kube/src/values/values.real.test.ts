/** Quantities and selectors, held to what the real API server makes of them. */
import { type Cluster, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { integer, pick, type Random, SeededRandom } from "../time/random.ts";
import { Quantity } from "./quantity.ts";
import { LabelSelector } from "./selectors.ts";
import { refusedSelectors } from "./testing/refused-selectors.ts";

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-values` });
});
afterAll(() => cluster?.stop());

const SUFFIXES = [
  "",
  "n",
  "u",
  "m",
  "k",
  "M",
  "G",
  "T",
  "P",
  "Ki",
  "Mi",
  "Gi",
  "Ti",
  "Pi",
  "e0",
  "e2",
  "e3",
  "e-2",
  "E5",
];

function randomQuantity(random: Random): string {
  const sign = pick(random, ["", "", "", "-", "+"]);
  const whole = integer(random, 0, pick(random, [2, 10, 2000, 5000]));
  const fraction = pick(random, ["", "", ".", ".5", ".25", ".1", ".001", ".000001", ".999"]);
  return `${sign}${whole}${fraction}${pick(random, SUFFIXES)}`;
}

describe("quantities", () => {
  it("Q8 are written as the API server writes them", async () => {
    const random = new SeededRandom("quantities");
    // The status of an autoscaler takes any quantity, negative ones included, and gives them back as it understood them.
    const texts = Array.from({ length: 1000 }, () => randomQuantity(random));
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "none" };
    await cluster.api.create(path, { metadata: { name: "quantities" }, spec: { maxReplicas: 2, scaleTargetRef } });
    const currentMetrics = texts.map((value) => ({
      type: "External",
      external: { metric: { name: "any" }, current: { value } },
    }));
    const { status } = await cluster.api.mergePatch(`${path}/quantities/status`, {
      status: { desiredReplicas: 0, currentMetrics },
    });
    const theirs = status.currentMetrics.map(
      (metric: (typeof currentMetrics)[number]) => metric.external.current.value,
    );
    // Some texts it gives back as they were; where it writes a quantity itself, it writes it as we do.
    const rewritten = texts.flatMap((text, index) => (theirs[index] === text ? [] : [[text, theirs[index]]]));
    expect(rewritten.length).toBeGreaterThan(300);
    expect(rewritten.map(([text = ""]) => [text, Quantity.parse(text).toString()])).toEqual(rewritten);
  });
});

describe("label selectors", () => {
  it("S7 choose what the API server chooses", async () => {
    const random = new SeededRandom("selectors");
    const keys = ["app", "tier", "cpu", "example.org/zone"];
    const values = ["a", "b", "7", "12", ""];
    const labels = () =>
      Object.fromEntries(keys.filter(() => random.next() < 0.6).map((key) => [key, pick(random, values)]));
    const objects = Array.from({ length: 30 }, (_, index) => ({
      metadata: { name: `labelled-${index}`, labels: labels() },
    }));
    const path = "/api/v1/namespaces/default/configmaps";
    await Promise.all(objects.map((object) => cluster.api.create(path, object)));

    const list = () =>
      Array.from({ length: integer(random, 1, 4) }, () => pick(random, values)).join(pick(random, [",", ", "]));
    const term = () => {
      const key = pick(random, keys);
      const value = pick(random, values);
      const number = integer(random, 0, 13);
      return pick(random, [
        ...[
          `${key}=${value}`,
          `${key} == ${value}`,
          `${key}!=${value}`,
          `${key} in (${list()})`,
          `${key} notin (${list()})`,
        ],
        ...[key, `!${key}`, `${key}>${number}`, `${key} < ${number}`],
      ]);
    };
    for (let round = 0; round < 100; round++) {
      const text = Array.from({ length: integer(random, 1, 4) }, term).join(",");
      const selector = LabelSelector.parse(text);
      const found = await cluster.api.list(`${path}?labelSelector=${encodeURIComponent(text)}`);
      const again = await cluster.api.list(`${path}?labelSelector=${encodeURIComponent(selector.toString())}`);
      const names = (list: { metadata: { name: string } }[]) =>
        list
          .map(({ metadata }) => metadata.name)
          .filter((name) => name.startsWith("labelled-"))
          .sort();
      const chosen = objects.filter(({ metadata }) => selector.matches(metadata.labels));
      expect(names(chosen), text).toEqual(names(found));
      expect(names(again), selector.toString()).toEqual(names(found));
    }
  });

  it("S8 are refused where the API server refuses them", async () => {
    for (const text of refusedSelectors) {
      const list = cluster.api.list(`/api/v1/configmaps?labelSelector=${encodeURIComponent(text)}`);
      await expect(list, text).rejects.toMatchObject({ status: 400 });
      expect(() => LabelSelector.parse(text), text).toThrow();
    }
  });
});
