/** What both targets have in common: everything, once there is a kubeconfig. */
import { execFile } from "node:child_process";
import { Client, coreV1, HttpTransport, isNotFound, loadConnection, sleep, WallClock } from "@berth/kube";
import { ask } from "../../http/testing/ask.ts";
import type { HttpAnswer, HttpOptions, KubectlResult, NodeShape, Target } from "../target.ts";
import { nodeObject, takesPods } from "./node.ts";

/** How long a real cluster may take for what it does by itself; a limit, not a measure. */
const PATIENCE_MS = 90_000;
const INTERVAL_MS = 50;
const clock = new WallClock();

/** Who edits a file for `kubectl edit`. */
const KUBE_EDITOR = "sed -i s/one/edited/";

export interface HttpTargetOptions {
  readonly name: Target["name"];
  /** The path of a kubeconfig with an administrator's rights. */
  readonly kubeconfig: string;
  /** The path of kubectl. */
  readonly kubectl: () => Promise<string>;
  /** Tells tests of one run from those of another. */
  readonly id: string;
}

export class HttpTarget implements Target {
  readonly name: Target["name"];
  readonly kubeconfig: string;
  readonly transport: HttpTransport;
  readonly client: Client;
  readonly #kubectl: () => Promise<string>;
  readonly #id: string;
  #namespaces = 0;

  constructor({ name, kubeconfig, kubectl, id }: HttpTargetOptions) {
    this.name = name;
    this.kubeconfig = kubeconfig;
    this.transport = new HttpTransport(loadConnection({ kubeconfig }));
    this.client = new Client(this.transport, { fieldManager: "conformance" });
    this.#kubectl = kubectl;
    this.#id = id;
  }

  async namespace(): Promise<string> {
    const name = `t${this.#id}-${++this.#namespaces}`;
    await this.client.create(coreV1.Namespace, { metadata: { name } });
    await until(`${name} has a service account`, () =>
      this.client.get(coreV1.ServiceAccount, { namespace: name, name: "default" }),
    );
    return name;
  }

  async addNode(shape: NodeShape): Promise<void> {
    await this.client.create(coreV1.Node, nodeObject(shape));
    await until(`node ${shape.name} takes pods`, async () =>
      takesPods(await this.client.get(coreV1.Node, { name: shape.name })),
    );
  }

  async removeNode(name: string): Promise<void> {
    await this.client.delete(coreV1.Node, { name });
  }

  async scheduler(name: string, _configuration: Readonly<Record<string, unknown>>): Promise<void> {
    throw new Error(`this target cannot start a scheduler ${JSON.stringify(name)}`);
  }

  async kubectl(args: readonly string[], input = ""): Promise<KubectlResult> {
    const program = await this.#kubectl();
    // No cache of another cluster, and no settings of whoever runs the tests.
    const env = { HOME: "/nonexistent", KUBECONFIG: this.kubeconfig, KUBECACHEDIR: "/nonexistent", KUBE_EDITOR };
    return new Promise((resolve, reject) => {
      const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile(program, [...args], options, (error, stdout, stderr) => {
        const code = child.exitCode;
        if (code === null) reject(error ?? new Error("kubectl was ended"));
        else resolve({ code, stdout, stderr });
      });
      child.stdin?.on("error", () => {}); // who has heard enough
      child.stdin?.end(input);
    });
  }

  async http(method: string, path: string, options: HttpOptions = {}): Promise<HttpAnswer> {
    const { server, tls } = loadConnection({ kubeconfig: this.kubeconfig });
    const { ca, certificate: cert, key } = tls;
    const headers = { "user-agent": "conformance", ...options.headers };
    return ask(method, `${server}${path}`, { ...options, headers, ca, cert, key });
  }

  async close(): Promise<void> {
    await this.transport.close();
  }
}

/** Asks until the answer is neither nothing nor no. */
async function until<T>(what: string, attempt: () => Promise<T | undefined | false>): Promise<T> {
  for (let waited = 0; waited < PATIENCE_MS; waited += INTERVAL_MS) {
    const answer = await attempt().catch((error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (answer) return answer;
    await sleep(clock, INTERVAL_MS);
  }
  throw new Error(`it never came true: ${what}`);
}
