/** What the server makes of what it is sent: unknown fields, wrong types, nothing in its many forms, quantities, times. */
import { expect } from "vitest";
import { type Any, send } from "./definitions.ts";
import { suite } from "./suite.ts";

const PODS = "/api/v1/namespaces/default/pods?dryRun=All";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps?dryRun=All";

const pod = (spec: unknown, metadata: unknown = { name: "x" }) => ({ apiVersion: "v1", kind: "Pod", metadata, spec });
const container = (fields: object) => pod({ containers: [{ name: "c", image: "i", ...fields }] });
const configMap = (fields: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", ...metadata },
  ...fields,
});

export const decoding = suite("decoding", (it, target) => {
  const post = (path: string, body: unknown) => send(target(), "POST", path, body);

  it("strict: all unknown fields are named, with their paths", async () => {
    const body = {
      ...pod({ containers: [{ name: "c", bar: 1, ports: [{ containerPort: 1, zzz: 2 }] }], zip: { a: 1 } }),
      foo: 1,
    };
    const { code, reason, message } = await post(`${PODS}&fieldValidation=Strict`, body);
    const fields = ["spec.containers[0].bar", "spec.containers[0].ports[0].zzz", "spec.zip", "foo"];
    const list = fields.map((field) => `unknown field "${field}"`).join(", ");
    expect([code, reason]).toEqual([400, "BadRequest"]);
    expect(message).toBe(`Pod in version "v1" cannot be handled as a Pod: strict decoding error: ${list}`);
  });

  it("unknown fields in labels are no fields, and the names of JavaScript's own are unknown like any others", async () => {
    const body = configMap({ constructor: 1 }, { labels: { constructor: "x" }, toString: 2 });
    const { message } = await post(`${CONFIG_MAPS}&fieldValidation=Strict`, body);
    expect(message).toContain('unknown field "metadata.toString", unknown field "constructor"');
    expect(message).not.toContain("labels");
    const kept = await post(`${CONFIG_MAPS}&fieldValidation=Ignore`, body);
    expect([kept.metadata.labels, Object.keys(kept).includes("constructor")]).toEqual([{ constructor: "x" }, false]);
  });

  it("otherwise they are dropped, with a warning if it is asked for", async () => {
    for (const [mode, count] of [
      ["Warn", 1],
      ["Ignore", 0],
    ] as const) {
      const options = { body: JSON.stringify(configMap({ foo: 1 })), headers: { "content-type": "application/json" } };
      const { headers, text } = await target().http("POST", `${CONFIG_MAPS}&fieldValidation=${mode}`, options);
      expect(JSON.parse(text)).not.toHaveProperty("foo");
      expect([headers.warning ?? []].flat().filter((each) => each.includes('unknown field \\"foo\\"'))).toHaveLength(
        count,
      );
    }
  });

  const unreadable: [what: string, body: unknown, problem: string][] = [
    [
      "a text for a list",
      container({ ports: "x" }),
      "json: cannot unmarshal string into Go struct field Container.spec.containers.ports of type []v1.ContainerPort",
    ],
    [
      "a text for an item",
      container({ ports: ["x"] }),
      "json: cannot unmarshal string into Go struct field Container.spec.containers.ports of type v1.ContainerPort",
    ],
    [
      "a text for a number",
      container({ ports: [{ containerPort: "80" }] }),
      "json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
    ],
    [
      "a fraction for a whole number",
      container({ ports: [{ containerPort: 80.5 }] }),
      "json: cannot unmarshal number 80.5 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
    ],
    [
      "too large a number",
      container({ ports: [{ containerPort: 3e9 }] }),
      "json: cannot unmarshal number 3000000000 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
    ],
    [
      "a number for a text",
      container({ name: 5 }),
      "json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string",
    ],
    [
      "a text for a truth value",
      container({ tty: "yes" }),
      "json: cannot unmarshal string into Go struct field Container.spec.containers.tty of type bool",
    ],
    [
      "a number for a label",
      pod({}, { name: "x", labels: { a: 5 } }),
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      "a text for an object",
      pod("x"),
      "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec",
    ],
    [
      "an object for a list",
      pod({ containers: {} }),
      "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
    ],
    [
      "a text for metadata",
      pod({}, "x"),
      "json: cannot unmarshal string into Go struct field Pod.metadata of type v1.ObjectMeta",
    ],
    [
      "a number for a time",
      pod({}, { name: "x", creationTimestamp: 5 }),
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
    ],
    [
      "no quantity",
      container({ resources: { requests: { cpu: "abc" } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      "a truth value for a quantity",
      container({ resources: { requests: { cpu: true } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ];
  for (const [what, body, problem] of unreadable) {
    it(`unreadable: ${what}`, async () => {
      const { code, reason, message } = await post(PODS, body);
      expect([code, reason]).toEqual([400, "BadRequest"]);
      expect(message).toBe(`Pod in version "v1" cannot be handled as a Pod: ${problem}`);
    });
  }

  it("unreadable: days that there are not", async () => {
    for (const creationTimestamp of [
      "foo",
      "2020-02-30T00:00:00Z",
      "2020-01-01T24:00:00Z",
      "2020-01-01 00:00:00Z",
      "",
    ]) {
      const { code, message } = await post(CONFIG_MAPS, configMap({}, { creationTimestamp }));
      expect([code, message]).toEqual([400, expect.stringContaining("parsing time")]);
    }
  });

  it("unreadable: bytes that are not base64", async () => {
    for (const [data, isRead] of [
      ["!!", false],
      ["YWJ", false],
      ["YWJj", true],
      ["YW\nJj", true],
      ["", true],
    ] as const) {
      const answer = await post(CONFIG_MAPS, configMap({ binaryData: { a: data } }));
      if (isRead) expect(answer.binaryData).toEqual({ a: data.replace("\n", "") });
      else expect([answer.code, answer.message]).toEqual([400, expect.stringContaining("illegal base64 data")]);
    }
  });

  it("null is nothing: no field, an empty value in a map, an empty item in a list", async () => {
    const metadata = { labels: { a: null }, annotations: null, finalizers: [] };
    const answer = await post(
      CONFIG_MAPS,
      configMap({ data: { a: null }, binaryData: null, immutable: null }, metadata),
    );
    expect(answer.data).toEqual({ a: "" });
    expect(answer.metadata.labels).toEqual({ a: "" });
    for (const field of ["annotations", "finalizers"]) expect(answer.metadata).not.toHaveProperty(field);
    for (const field of ["binaryData", "immutable"]) expect(answer).not.toHaveProperty(field);
  });

  it("what is empty is left out, unless it means something", async () => {
    const webhook = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All";
    const answer = await post(webhook, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "x", labels: {}, generateName: "" },
      webhooks: [],
    });
    expect(answer).not.toHaveProperty("webhooks");
    for (const field of ["labels", "generateName"]) expect(answer.metadata).not.toHaveProperty(field);
    const kept = await post(CONFIG_MAPS, configMap({ immutable: false, data: {} }));
    expect([kept.immutable, "data" in kept]).toEqual([false, false]);
  });

  it("some fields are always there", async () => {
    const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All";
    const fields = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "x" } };
    expect(await post(role, fields)).toMatchObject({ rules: null });
    expect(await post(role, { ...fields, rules: [] })).toMatchObject({ rules: null });
    const rules = [{ resources: ["pods"], apiGroups: [""] }];
    const refused = await post(role, { ...fields, rules });
    expect(refused.details.causes.map((cause: Any) => cause.field)).toEqual(["rules[0].verbs"]);
  });

  const quantities: (readonly [given: unknown, written: string])[] = [
    ...([
      ["1", "1"],
      ["0.5", "500m"],
      [0.5, "500m"],
      [3, "3"],
      ["1000m", "1"],
      ["1500m", "1500m"],
    ] as const),
    ...([
      ["1024Ki", "1Mi"],
      ["1.5Gi", "1536Mi"],
      ["1000", "1k"],
      ["1e3", "1e3"],
      ["5e-1", "500e-3"],
    ] as const),
    ...([
      ["0", "0"],
      ["0m", "0"],
      ["100000000", "100M"],
      ["0.1Ki", "102400m"],
      [" 2 ", "2"],
      [".5", "500m"],
    ] as const),
    // What looks canonical to the real server stays as it is.
    ...([
      ["+3", "+3"],
      ["007", "007"],
      ["1.500", "1.500"],
      ["1E3", "1E3"],
      ["5.", "5."],
      ["+5Ki", "+5Ki"],
    ] as const),
  ];
  it("quantities are written in their canonical form", async () => {
    const path = "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities?dryRun=All";
    for (const [capacity, written] of quantities) {
      const { capacity: found } = await post(path, {
        apiVersion: "storage.k8s.io/v1",
        kind: "CSIStorageCapacity",
        metadata: { name: "x" },
        storageClassName: "a",
        capacity,
      });
      expect([capacity, found]).toEqual([capacity, written]);
    }
  });

  it("times are in universal time, to the second or to the microsecond and no less", async () => {
    const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases?dryRun=All";
    const renew = (renewTime: unknown) =>
      post(path, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "x" }, spec: { renewTime } });
    expect((await renew("2020-01-01T00:00:00.123456+02:00")).spec).toEqual({
      renewTime: "2019-12-31T22:00:00.123456Z",
    });
    for (const time of ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.123Z", "x"]) {
      expect(await renew(time)).toMatchObject({ code: 400, reason: "BadRequest" });
    }
    const events = "/api/v1/namespaces/default/events?dryRun=All";
    const event = await post(events, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "x" },
      involvedObject: { namespace: "default" },
      firstTimestamp: "2020-01-01T02:00:00.9+02:00",
    });
    expect(event).toMatchObject({
      firstTimestamp: "2020-01-01T00:00:00Z",
      lastTimestamp: null,
      eventTime: null,
      source: {},
      reportingComponent: "",
      reportingInstance: "",
    });
  });

  it("events are the same under both of their names", async () => {
    const namespace = await target().namespace();
    const made = await post(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "x" },
      eventTime: "2020-01-01T00:00:00.000001Z",
      reportingController: "example.org/tester",
      reportingInstance: "one",
      action: "Test",
      reason: "Tested",
      type: "Normal",
      note: "hello",
      regarding: { kind: "Namespace", name: namespace, namespace },
    });
    expect(made).toMatchObject({ note: "hello", regarding: { kind: "Namespace" }, deprecatedFirstTimestamp: null });
    const seen = await send(target(), "GET", `/api/v1/namespaces/${namespace}/events/x`);
    expect(seen).toMatchObject({
      apiVersion: "v1",
      message: "hello",
      involvedObject: { kind: "Namespace", name: namespace },
      reportingComponent: "example.org/tester",
      firstTimestamp: null,
      source: {},
    });
    expect(seen.metadata.uid).toBe(made.metadata.uid);
    const fresh = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const series = { count: 2, lastObservedTime: "2020-01-01T00:00:01.000000Z" };
    const type = "application/merge-patch+json";
    expect(await send(target(), "PATCH", `${fresh}/x`, { series }, type)).toMatchObject({ note: "hello", series });
    expect(await send(target(), "GET", `/api/v1/namespaces/${namespace}/events/x`)).toMatchObject({ series });
    for (const [path, field] of [
      [fresh, "regarding.name"],
      [`/api/v1/namespaces/${namespace}/events`, "involvedObject.name"],
    ] as const) {
      const named = async (name: string) =>
        (await send(target(), "GET", `${path}?fieldSelector=${field}=${name}`)).items.length;
      expect([await named(namespace), await named("other")]).toEqual([1, 0]);
    }
  });
});
