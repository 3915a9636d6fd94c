import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyObject } from "../../api/json.ts";
import type { Column } from "../../api/resource.ts";
import { columns, defaultColumns } from "../columns.ts";

const NOW = Date.UTC(2020, 0, 1, 0, 1);
const metadata = { name: "x", creationTimestamp: "2020-01-01T00:00:00Z" };
const row = (id: string, object: object, shown: (column: Column) => boolean = () => true) =>
  Object.fromEntries(
    (columns[id] ?? [])
      .filter(shown)
      .map((column) => [column.name, column.cell({ metadata, ...object } as AnyObject, NOW)]),
  );

describe("what kubectl get shows", () => {
  it("of nodes: readiness, roles, and whether they take pods", () => {
    const node = {
      metadata: { ...metadata, labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge" } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "False" }],
        nodeInfo: { kubeletVersion: "v1", kernelVersion: "6.1", architecture: "amd64" },
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
      },
    };
    expect(row("/nodes", node)).toMatchObject({
      Status: "NotReady,SchedulingDisabled",
      Roles: "edge,worker",
      Age: "60s",
      Version: "v1",
      "Internal-IP": "10.0.0.1",
      "External-IP": "<none>",
      "Kernel-Version": "6.1 (amd64)",
    });
    expect(row("/nodes", {})).toMatchObject({ Status: "Unknown", Roles: "<none>" });
  });

  it("of jobs: how many have completed, and in what time", () => {
    const status = { succeeded: 1, startTime: "2020-01-01T00:00:10Z", completionTime: "2020-01-01T00:00:30Z" };
    expect(row("batch/jobs", { spec: { completions: 3 }, status })).toMatchObject({
      Status: "Running",
      Completions: "1/3",
      Duration: "20s",
    });
    expect(row("batch/jobs", { spec: { parallelism: 4 } })).toMatchObject({ Completions: "0/1 of 4", Duration: "" });
    const conditions = [{ type: "Complete", status: "True" }];
    expect(row("batch/jobs", { spec: {}, status: { ...status, conditions } })).toMatchObject({ Status: "Complete" });
  });

  it("of services: where they are", () => {
    const ports = [
      { port: 80, protocol: "TCP", nodePort: 30080 },
      { port: 53, protocol: "UDP" },
    ];
    const spec = { type: "NodePort", clusterIPs: ["10.96.0.9"], ports, selector: { app: "web", a: "b" } };
    expect(row("/services", { spec })).toMatchObject({
      "Cluster-IP": "10.96.0.9",
      "External-IP": "<none>",
      "Port(s)": "80:30080/TCP,53/UDP",
      Selector: "a=b,app=web",
    });
    expect(row("/services", { spec: { type: "LoadBalancer" } })).toMatchObject({
      "Cluster-IP": "<none>",
      "External-IP": "<pending>",
      "Port(s)": "<none>",
    });
  });

  it("of deployments: selectors as one would type them", () => {
    const matchExpressions = [
      { key: "tier", operator: "In", values: ["b", "a"] },
      { key: "old", operator: "DoesNotExist" },
    ];
    const spec = { replicas: 3, selector: { matchLabels: { zone: "z" }, matchExpressions } };
    expect(row("apps/deployments", { spec, status: { readyReplicas: 2 } })).toMatchObject({
      Ready: "2/3",
      "Up-to-date": 0,
      Selector: "!old,tier in (a,b),zone=z",
    });
  });

  it("of events: when, what, and about whom, in both of their versions", () => {
    const old = {
      lastTimestamp: "2020-01-01T00:00:30Z",
      involvedObject: { kind: "Pod", name: "p" },
      message: " hello\n",
      source: { component: "kubelet", host: "n1" },
      count: 3,
    };
    const fresh = {
      eventTime: "2020-01-01T00:00:30.000000Z",
      regarding: { kind: "Pod", name: "p" },
      note: "hello",
      reportingController: "kubelet",
      reportingInstance: "n1",
    };
    const expected = { "Last Seen": "30s", Object: "pod/p", Message: "hello", Source: "kubelet, n1" };
    expect(row("/events", old)).toMatchObject({ ...expected, Count: 3 });
    expect(row("events.k8s.io/events", fresh)).toMatchObject({ ...expected, Count: 1 });
  });

  it("of autoscalers: what they aim at", () => {
    const metrics = [
      { type: "Resource", resource: { name: "cpu", target: { averageUtilization: 80 } } },
      { type: "Resource", resource: { name: "memory", target: { averageValue: "1Gi" } } },
      { type: "Pods", pods: { target: { averageValue: "10" } } },
    ];
    const currentMetrics = [{ type: "Resource", resource: { current: { averageUtilization: 12 } } }];
    const spec = { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 5, metrics };
    expect(row("autoscaling/horizontalpodautoscalers", { spec, status: { currentMetrics } })).toMatchObject({
      Reference: "Deployment/web",
      Targets: "cpu: 12%/80%, memory: <unknown>/1Gi + 1 more...",
      MinPods: "<unset>",
    });
  });

  it("of quotas: what is used of what, requests and limits apart", () => {
    const status = { hard: { pods: "4", "limits.cpu": "2", cpu: "1" }, used: { pods: "1" } };
    expect(row("/resourcequotas", { status })).toMatchObject({
      Request: "cpu: 0/1, pods: 1/4",
      Limit: "limits.cpu: 0/2",
    });
  });

  it("of endpoints: the first three, and how many more", () => {
    const addresses = ["1", "2", "3", "4"].map((last) => ({ ip: `10.0.0.${last}` }));
    expect(row("/endpoints", { subsets: [{ addresses, ports: [{ port: 80 }] }] })).toMatchObject({
      Endpoints: "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 1 more...",
    });
    expect(row("/endpoints", {})).toMatchObject({ Endpoints: "<none>" });
  });
});

describe("every column", () => {
  const all = [...Object.entries(columns), ["", defaultColumns] as const];

  it("begins with the name, as kubectl expects; events end with it", () => {
    for (const [id, list] of all) {
      const named = list.filter(({ format }) => format === "name");
      expect(named.length, id).toBe(1);
      if (!id.endsWith("events")) expect(list[0]?.name, id).toBe("Name");
    }
  });

  it("shows something of any object whatever, and nothing that is not a plain value", () => {
    const names = [
      "spec",
      "status",
      "conditions",
      "containers",
      "type",
      "subsets",
      "ports",
      "rules",
      "metrics",
      "name",
    ];
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom(null, true, -1, 1e300, "", "x", "2020-01-01T00:00:00Z"),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie("any"), { maxKeys: 4 }),
      ),
    })).any;
    const object = fc.record(
      Object.fromEntries(["spec", "status", "subsets", "data", "series"].map((key) => [key, value])),
    );
    fc.assert(
      fc.property(object, (fields) => {
        for (const [id, list] of all) {
          for (const column of list) {
            const cell = column.cell({ metadata: { name: "x" }, ...fields } as AnyObject, NOW);
            expect(["string", "number", "boolean"], `${id} ${column.name}`).toContain(typeof cell);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
