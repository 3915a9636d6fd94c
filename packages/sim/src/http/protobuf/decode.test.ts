import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromProtobuf } from "./decode.ts";

/** Just enough to write what a Go client would send. */
const varint = (value: bigint | number): number[] => {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return [...bytes, Number(left)];
};
const bytes = (field: number, value: string | number[]) => {
  const content = typeof value === "string" ? [...Buffer.from(value)] : value;
  return [...varint(field * 8 + 2), ...varint(content.length), ...content];
};
const number = (field: number, value: bigint | number) => [...varint(field * 8), ...varint(value)];
const body = (apiVersion: string, kind: string, raw: number[]) =>
  Uint8Array.from([
    ...Buffer.from("k8s\0"),
    ...bytes(1, [...bytes(1, apiVersion), ...bytes(2, kind)]),
    ...bytes(2, raw),
    ...bytes(4, ""),
  ]);

describe("objects out of protobuf", () => {
  it("have names, lists, maps, numbers and times", () => {
    const label = (key: string, value: string) => bytes(11, [...bytes(1, key), ...bytes(2, value)]);
    const time = bytes(8, [...number(1, 1_600_000_000), ...number(2, 0)]);
    const metadata = bytes(1, [
      ...bytes(1, "p"),
      ...bytes(2, ""),
      ...time,
      ...label("a", "b"),
      ...label("__proto__", "c"),
    ]);
    const requests = bytes(2, [...bytes(1, "cpu"), ...bytes(2, bytes(1, "100m"))]);
    const container = bytes(2, [...bytes(1, "main"), ...bytes(8, requests)]);
    const spec = bytes(2, [...container, ...number(4, 30), ...number(11, 1)]);
    const object = fromProtobuf(body("v1", "Pod", [...metadata, ...spec]));
    expect(object).toMatchObject({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", generateName: "", creationTimestamp: "2020-09-13T12:26:40Z" },
      spec: {
        containers: [{ name: "main", resources: { requests: { cpu: "100m" } } }],
        terminationGracePeriodSeconds: 30,
        hostNetwork: true,
      },
    });
    const labels = (object.metadata as { labels: object }).labels;
    expect(Object.entries(labels)).toEqual([
      ["a", "b"],
      ["__proto__", "c"],
    ]);
  });

  it("lie flat where Go embeds one struct in another", () => {
    const emptyDir = bytes(2, bytes(2, bytes(1, "Memory")));
    const volume = bytes(1, [...bytes(1, "cache"), ...emptyDir]);
    expect(fromProtobuf(body("v1", "Pod", bytes(2, volume)))).toMatchObject({
      spec: { volumes: [{ name: "cache", emptyDir: { medium: "Memory" } }] },
    });
  });

  it("have ports that are numbers or names, and bytes as base64", () => {
    const port = (target: number[]) => bytes(1, [...number(3, 80), ...bytes(4, target)]);
    const ports = [...port([...number(1, 0), ...number(2, 8080)]), ...port([...number(1, 1), ...bytes(3, "http")])];
    expect(fromProtobuf(body("v1", "Service", bytes(2, ports)))).toMatchObject({
      spec: { ports: [{ targetPort: 8080 }, { targetPort: "http" }] },
    });
    const data = bytes(2, [...bytes(1, "k"), ...bytes(2, [1, 2, 3])]);
    expect(fromProtobuf(body("v1", "Secret", data))).toMatchObject({ data: { k: "AQID" } });
  });

  it("have numbers below zero, and fields that a newer client knows are left out", () => {
    const raw = [...number(2, -5), ...number(1000, 7), ...bytes(1001, "x")];
    expect(fromProtobuf(body("scheduling.k8s.io/v1", "PriorityClass", raw))).toEqual({
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      value: -5,
    });
  });

  it("may be options of a deletion, whatever is deleted", () => {
    const raw = [...number(1, 0), ...bytes(4, "Background"), ...bytes(5, "All")];
    expect(fromProtobuf(body("apps/v1", "DeleteOptions", raw))).toMatchObject({
      gracePeriodSeconds: 0,
      propagationPolicy: "Background",
      dryRun: ["All"],
    });
  });

  it("are refused, and nothing worse, if they are something else", () => {
    expect(() => fromProtobuf(Buffer.from("{}"))).toThrow(/does not appear to be a protobuf message/);
    expect(() => fromProtobuf(body("example.org/v1", "Thing", []))).toThrow(/send it as JSON/);
    expect(() => fromProtobuf(body("v1", "VolumeSource", []))).toThrow(/send it as JSON/);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("Pod", "Service", "Event"), (noise, kind) => {
        try {
          fromProtobuf(body("v1", kind, [...noise]));
        } catch (error) {
          expect(error).toMatchObject({ reason: "BadRequest" });
        }
      }),
      { numRuns: 1000 },
    );
  });
});
