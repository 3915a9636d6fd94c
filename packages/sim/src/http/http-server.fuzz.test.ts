/** Whatever comes in over HTTP gets the API's own kind of answer, and the server lives on. FUZZ_SEED repeats a round. */
import { connect } from "node:net";
import { integer, pick, type Random, SeededRandom } from "@berth/kube";
import { expect, it } from "vitest";
import { startSim } from "../simulation.ts";
import { type Answered, type Asked, ask } from "./testing/ask.ts";

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 4);
const REQUESTS = 250;
const SEEDS = process.env.FUZZ_SEED
  ? [process.env.FUZZ_SEED]
  : Array.from({ length: ROUNDS }, (_, round) => `${round}`);

const METHODS = ["GET", "GET", "POST", "POST", "PUT", "PATCH", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const PREFIXES = [
  "/api/v1",
  "/apis/apps/v1",
  "/apis/batch/v1",
  "/apis/rbac.authorization.k8s.io/v1",
  "/apis/policy/v1",
];
const PLURALS = [
  ...["pods", "services", "nodes", "namespaces", "configmaps", "secrets", "events", "serviceaccounts", "bindings"],
  ...["deployments", "jobs", "roles", "clusterroles", "rolebindings", "poddisruptionbudgets", "replicasets"],
];
const REVIEWS = [
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/authorization.k8s.io/v1/subjectaccessreviews",
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
];
const SUBRESOURCES = [
  "status",
  "scale",
  "binding",
  "eviction",
  "log",
  "exec",
  "token",
  "ephemeralcontainers",
  "resize",
  "x",
];
const OTHERS = [
  "/",
  "/version",
  "/api",
  "/apis",
  "/openapi/v3",
  "/openapi/v3/api/v1",
  "/metrics",
  "/healthz",
  "//",
  "/x/y",
];
const NAMES = ["default", "a", "b", "", ".", "..", "%00", "%2F", "ü", "__proto__", "constructor", "x".repeat(300)];
const CONTENT_TYPES = [
  ...["application/json", "application/json", "application/merge-patch+json", "application/strategic-merge-patch+json"],
  ...["application/json-patch+json", "application/apply-patch+yaml", "application/yaml", "text/plain", ""],
  "application/vnd.kubernetes.protobuf",
];
const ACCEPTS = [
  "*/*",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/yaml",
  "text/html",
  ";;=,,q=x",
  "",
];
const QUERY_NAMES = [
  ...["limit", "continue", "labelSelector", "fieldSelector", "resourceVersion", "resourceVersionMatch", "dryRun"],
  ...["fieldManager", "force", "fieldValidation", "propagationPolicy", "gracePeriodSeconds", "includeObject", "pretty"],
];
const QUERY_VALUES = [
  "",
  "0",
  "1",
  "-1",
  "x",
  "All",
  "true",
  "Strict",
  "a=b",
  "a in (b",
  "metadata.name=a",
  "99999999999",
  "%",
];
const FIELDS = [
  ...["metadata", "spec", "status", "name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"],
  ...[
    "containers",
    "image",
    "template",
    "selector",
    "replicas",
    "rules",
    "subjects",
    "roleRef",
    "data",
    "ports",
    "target",
  ],
  ...[
    "kind",
    "apiVersion",
    "op",
    "path",
    "value",
    "uid",
    "deletionTimestamp",
    "managedFields",
    "__proto__",
    "versions",
  ],
];

const container = { name: "c", image: "i", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "b" }] };
const podSpec = {
  containers: [{ ...container, resources: { requests: { cpu: "1" }, limits: { memory: "1Gi" } } }],
  initContainers: [{ name: "i", image: "i", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
  volumes: [
    { name: "v", emptyDir: { sizeLimit: "1Gi" } },
    { name: "w", configMap: { name: "x" } },
  ],
  tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }],
  schedulingGates: [{ name: "a/b" }],
};
const template = { metadata: { labels: { a: "b" } }, spec: podSpec };
const selector = { matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "DoesNotExist" }] };
const metadata = { name: "a", labels: { a: "b" }, annotations: { c: "d" } };

/** Good objects, to be made bad in one place or two. */
const CORPUS: readonly (readonly [path: string, object: object])[] = [
  ["/api/v1/namespaces/default/pods", { metadata, spec: podSpec }],
  ["/apis/apps/v1/namespaces/default/deployments", { metadata, spec: { replicas: 1, selector, template } }],
  ["/apis/apps/v1/namespaces/default/statefulsets", { metadata, spec: { serviceName: "s", selector, template } }],
  ["/apis/apps/v1/namespaces/default/daemonsets", { metadata, spec: { selector, template } }],
  ["/apis/batch/v1/namespaces/default/jobs", { metadata, spec: { completions: 2, template } }],
  [
    "/apis/batch/v1/namespaces/default/cronjobs",
    { metadata, spec: { schedule: "* * * * *", jobTemplate: { spec: { template } } } },
  ],
  [
    "/api/v1/namespaces/default/services",
    { metadata, spec: { ports: [{ port: 80, targetPort: "http" }], selector: { a: "b" } } },
  ],
  ["/api/v1/namespaces/default/secrets", { metadata, type: "Opaque", data: { a: "YQ==" }, stringData: { b: "c" } }],
  [
    "/api/v1/nodes",
    { metadata, spec: { taints: [{ key: "a", effect: "NoSchedule" }] }, status: { capacity: { cpu: "1" } } },
  ],
  [
    "/api/v1/namespaces/default/events",
    { metadata, involvedObject: { kind: "Pod", namespace: "default" }, reason: "x" },
  ],
  ["/apis/policy/v1/namespaces/default/poddisruptionbudgets", { metadata, spec: { minAvailable: "50%", selector } }],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    { metadata, rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] },
  ],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      metadata: { name: "things.example.org" },
      spec: {
        group: "example.org",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  spec: { type: "object", properties: { size: { type: "integer", minimum: 1, default: 2 } } },
                },
                "x-kubernetes-validations": [{ rule: "self.spec.size > 0" }],
              },
            },
          },
        ],
      },
    },
  ],
  ["/apis/example.org/v1/namespaces/default/things", { metadata, spec: { size: 3 } }],
];

it.each(SEEDS)("H1 answers anything, and the whole cluster survives it (seed %s)", async (seed) => {
  const failures: unknown[] = [];
  const sim = await startSim({ http: { tls: false }, nodes: 1, onFailure: (error) => failures.push(error) });
  const api: Api = {
    address: sim.address,
    ask: (method, path, asked) => ask(method, `${sim.address}${path}`, asked),
  };
  const random = new SeededRandom(seed);
  const problems: string[] = [];
  for (let count = 0; count < REQUESTS; count++) {
    if (random.next() < 0.1) await noise(api, random);
    else problems.push(...(await once(api, random)));
  }
  expect(problems).toEqual([]);
  expect(failures).toEqual([]);
  expect((await api.ask("GET", "/version")).status).toBe(200);
  await sim.stop();
});

interface Api {
  readonly address: string;
  ask(method: string, path: string, asked?: Asked): Promise<Answered>;
}

/** One request that is HTTP, at least. */
async function once(api: Api, random: Random): Promise<string[]> {
  const isSpoilt = random.next() < 0.6;
  const [method, path, body] = isSpoilt ? spoilt(random) : [pick(random, METHODS), pathOf(random), bodyOf(random)];
  const known = method === "PATCH" ? pick(random, CONTENT_TYPES.slice(2, 6)) : "application/json";
  const type = isSpoilt && random.next() < 0.95 ? known : pick(random, CONTENT_TYPES);
  const headers: Record<string, string> = { "content-type": type, accept: isSpoilt ? "*/*" : pick(random, ACCEPTS) };
  if (!isSpoilt && random.next() < 0.1)
    headers["impersonate-user"] = pick(random, ["a", "system:serviceaccount:a:b", ""]);
  if (!isSpoilt && random.next() < 0.1) headers["impersonate-group"] = "g";
  if (random.next() < 0.05)
    headers.authorization = pick(random, ["Bearer x", "Bearer", "Basic eDp5", "x", "Bearer a.b.c"]);
  const { status, object, text } = await api.ask(method, path, { headers, ...(method !== "GET" && { body }) });
  const asked = `${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body).slice(0, 300)}`;
  const isTimeout = status === 504 && object?.reason === "Timeout"; // as the real one answers for a version to come
  if (status >= 500 && !isTimeout) return [`${status} for ${asked}: ${text.slice(0, 300)}`];
  if (status >= 400 && method !== "HEAD" && object?.kind !== "Status") return [`no Status for ${asked}: ${text}`];
  return [];
}

/** A good object to be made, replaced or patched, with something wrong in it. */
function spoilt(random: Random): [method: string, path: string, body: string] {
  const [path, object] = pick(random, CORPUS);
  const name = pick(random, ["a", "b", "c"]);
  const copy = JSON.parse(JSON.stringify(object).replace('"name":"a"', `"name":"${name}"`)) as JsonValue;
  for (let times = integer(random, 0, 3); times > 0; times--) spoil(copy, random);
  const method = pick(random, ["POST", "POST", "PUT", "PATCH", "DELETE"]);
  const target = method === "POST" ? path : `${path}/${name}${random.next() < 0.2 ? "/status" : ""}`;
  const query =
    method === "PATCH" ? "?fieldManager=f&force=true" : random.next() < 0.2 ? "?fieldValidation=Strict" : "";
  return [method, target + query, JSON.stringify(copy)];
}

type JsonValue = Record<string, unknown> | unknown[];

/** Goes down by chance, and puts something else there. */
function spoil(value: JsonValue, random: Random): void {
  const keys = Object.keys(value);
  if (keys.length === 0) return;
  const key = pick(random, keys) as keyof JsonValue;
  const inner = value[key] as unknown;
  if (typeof inner === "object" && inner !== null && random.next() < 0.8) spoil(inner as JsonValue, random);
  else if (Array.isArray(value) && random.next() < 0.2) value.push(inner);
  else
    (value as Record<string, unknown>)[random.next() < 0.2 ? pick(random, FIELDS) : String(key)] = anyValue(random, 2);
}

function pathOf(random: Random): string {
  const kind = random.next();
  let path: string;
  if (kind < 0.1) path = pick(random, OTHERS);
  else if (kind < 0.2) path = pick(random, REVIEWS);
  else {
    const namespace = random.next() < 0.7 ? `/namespaces/${pick(random, NAMES)}` : "";
    const name = random.next() < 0.6 ? `/${pick(random, NAMES)}` : "";
    const subresource = name && random.next() < 0.3 ? `/${pick(random, SUBRESOURCES)}` : "";
    path = `${pick(random, PREFIXES)}${namespace}/${pick(random, PLURALS)}${name}${subresource}`;
  }
  const query = Array.from(
    { length: integer(random, 0, 3) },
    () => `${pick(random, QUERY_NAMES)}=${pick(random, QUERY_VALUES)}`,
  );
  return encodeURI(path).replaceAll("%25", "%") + (query.length > 0 ? `?${encodeURI(query.join("&"))}` : "");
}

function bodyOf(random: Random): string | Uint8Array {
  const kind = random.next();
  if (kind < 0.05) return "";
  if (kind < 0.1) return Uint8Array.from({ length: integer(random, 0, 50) }, () => integer(random, 0, 256));
  if (kind < 0.15)
    return Buffer.concat([Buffer.from("k8s\0"), Buffer.from([integer(random, 0, 256), 4, 10, 2, 118, 49])]);
  if (kind < 0.2) return "[".repeat(integer(random, 1, 2000));
  const text = JSON.stringify(kind < 0.6 ? likely(random) : anyValue(random, 0));
  return random.next() < 0.05 ? text.slice(0, integer(random, 0, text.length)) : text;
}

/** Something that could be an object, with something in it that could not. */
function likely(random: Random): object {
  const container = { name: "c", image: "i", [pick(random, FIELDS)]: anyValue(random, 2) };
  const spec = { containers: [container], [pick(random, FIELDS)]: anyValue(random, 1) };
  const template = { metadata: { labels: { a: "b" } }, spec };
  return {
    metadata: {
      name: pick(random, ["a", "b"]),
      [pick(random, FIELDS)]: random.next() < 0.5 ? anyValue(random, 1) : undefined,
    },
    spec: random.next() < 0.5 ? spec : { template, selector: { matchLabels: { a: "b" } } },
    ...(random.next() < 0.3 && { [pick(random, FIELDS)]: anyValue(random, 0) }),
  };
}

function anyValue(random: Random, depth: number): unknown {
  const kind = integer(random, 0, depth > 4 ? 6 : 9);
  if (kind === 0) return null;
  if (kind === 1) return random.next() < 0.5;
  if (kind === 2) return pick(random, [0, -1, 1.5, 1e300, 2 ** 53, 443]);
  if (kind < 6) return pick(random, ["", "a", "x/y", "1Gi", "2020-01-01T00:00:00Z", "\u0000", "Ü", "*", "{{"]);
  const size = integer(random, 0, 4);
  if (kind === 6) return Array.from({ length: size }, () => anyValue(random, depth + 1));
  return Object.fromEntries(Array.from({ length: size }, () => [pick(random, FIELDS), anyValue(random, depth + 1)]));
}

/** Bytes that are no request, or only the beginning of one. */
function noise({ address }: Api, random: Random): Promise<void> {
  const { port } = new URL(address);
  const beginnings = [
    "GET /api/v1/pods HTTP/1.1\r\nhost: x\r\n",
    "POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    "POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "\u0016\u0003\u0001 hello",
    `GET /${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`,
    "FOO / HTTP/9.9\r\n\r\n",
    "GET /api/v1/pods?watch=1 HTTP/1.1\r\nhost: x\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ];
  return new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(pick(random, beginnings), () => {
        if (random.next() < 0.5) socket.resetAndDestroy();
        else socket.end();
        resolve();
      });
    });
    socket.on("error", () => resolve());
  });
}
