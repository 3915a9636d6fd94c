import { describe, expect, it } from "vitest";
import { normalised, words } from "./command-line.ts";

describe("a command", () => {
  it("is split as a shell splits it", () => {
    expect(words(`patch cm a -p '{"a": "b c"}' --type=merge -l "x in (a)" --o='{"d": 1}'`)).toEqual([
      "patch",
      "cm",
      "a",
      "-p",
      '{"a": "b c"}',
      "--type=merge",
      "-l",
      "x in (a)",
      '--o={"d": 1}',
    ]);
  });
});

describe("what a command prints, without what chance decides", () => {
  const cases: [string, string][] = [
    ["web-5d4f8c7b9-x2k4z   1/1   Running   2 (5m3s ago)   10d", "web-HASH-SUFFIX  1/1  Running  2 (AGE)  AGE"],
    ["replicaset.apps/web-5467cf875f   2", "replicaset.apps/web-HASH  2"],
    ["pi-7xkzw     0/1", "pi-SUFFIX  0/1"],
    ["uid: 2dcf4bf0-0ae3-4927-84d6-c77b2b849218", "uid: UID"],
    ['  creationTimestamp: "2026-11-16T02:20:27Z"', '  creationTimestamp: "TIME"'],
    ["Start Time:   Mon, 16 Nov 2026 02:20:27 +0000", "Start Time:  TIME"],
    ['resourceVersion: "123"', 'resourceVersion: "N"'],
    ["np  NodePort  10.96.1.1  <none>  80:30086/TCP  5s", "np  NodePort  IP  <none>  80:NODEPORT/TCP  AGE"],
    ["Normal  Created  3s (x2 over 10s)  kubelet", "Normal  Created  AGE  kubelet"],
    ["running at https://127.0.0.1:23468", "running at SERVER"],
    ["Server Version: v1.36.3+berth", "Server Version: VERSION"],
    ["in t12s-1 namespace.   ", "in NAMESPACE namespace."],
  ];
  for (const [printed, expected] of cases) {
    it(expected, () => expect(normalised(printed, { "t12s-1": "NAMESPACE" })).toBe(expected));
  }

  it("keeps names that people gave, and values", () => {
    for (const text of ["configmap/settings", "nginx:1", "cpu  100", "25% max unavailable", "0 3 * * *", "my-app"]) {
      expect(normalised(text)).toBe(text);
    }
  });
});
