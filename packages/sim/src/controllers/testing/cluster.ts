/** A cluster for tests of controllers: the server with all kinds, on a virtual clock, and the parts that a test asks for. */
import { coreV1, type KubernetesObject, keyOf, SeededRandom, VirtualClock } from "@berth/kube";
import { ApiServer } from "../../api/api-server.ts";
import { LocalApi } from "../../api/local-api.ts";
import type { Admission } from "../../api/write.ts";
import { builtinResources } from "../../kinds/builtin.ts";
import { subresources } from "../../kinds/subresources.ts";
import type { Component, Surroundings } from "../component.ts";

export interface TestCluster {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  readonly api: LocalApi;
  /** Errors that nobody could do anything about. */
  readonly failures: unknown[];
  /** What the API server refused to the parts of the cluster, as "who: why". */
  readonly refusals: string[];
  surroundings(name: string): Surroundings;
  start<C extends Component>(component: C): C;
  /** Everything that was written from now on, as "ADDED pods/default/x". */
  history(): string[];
}

export interface TestClusterOptions {
  readonly seed?: string;
  readonly events?: boolean;
  /** What stands between a wish and its object. Default: nothing. */
  readonly admissions?: readonly Admission[];
}

export function testCluster({ seed = "test", events = true, admissions = [] }: TestClusterOptions = {}): TestCluster {
  const clock = new VirtualClock();
  const random = new SeededRandom(seed);
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const server = new ApiServer({ clock, random: random.fork("api"), admissions, subresources, onFailure });
  for (const resource of builtinResources()) server.resources.add(resource);
  const refusals: string[] = [];
  const request = server.request.bind(server);
  server.request = (asked, caller) => {
    try {
      return request(asked, caller);
    } catch (error) {
      const who = caller?.user.username ?? "";
      if (who !== "test") refusals.push(`${who}: ${error instanceof Error ? error.message : error}`);
      throw error;
    }
  };
  const surroundings = (name: string) => ({ server, clock, random: random.fork(name), onFailure, events });
  return {
    ...{ server, clock, failures, refusals, surroundings },
    api: new LocalApi(server, "test"),
    start: (component) => {
      component.start();
      return component;
    },
    history: () => {
      const lines: string[] = [];
      server.listen(undefined, ({ before, after, key }, collection) => {
        const type = after ? (before ? "MODIFIED" : "ADDED") : "DELETED";
        lines.push(`${type} ${collection.replace(/^\//, "")}/${key}`);
      });
      return lines;
    },
  };
}

/** A pod with one container. */
export function pod(
  name: string,
  spec: Partial<coreV1.PodSpec> = {},
  more: Partial<KubernetesObject["metadata"]> = {},
): coreV1.Pod {
  return {
    metadata: { name, namespace: "default", ...more },
    spec: { containers: [{ name: "main", image: "busybox" }], restartPolicy: "Never", ...spec },
  };
}

/** Puts every pod that has no node on one of these, in turn: a scheduler for those who do not test scheduling. */
export function bindPods({ server, api }: TestCluster, ...nodes: readonly string[]): void {
  let turn = 0;
  const bind = (key: { namespace?: string | undefined; name: string }) => {
    const present = api.get(coreV1.Pod, key);
    if (!present || present.spec?.nodeName || present.metadata.deletionTimestamp !== undefined) return;
    const nodeName = nodes[turn++ % nodes.length] as string;
    const bound = {
      ...present,
      metadata: { ...present.metadata },
      spec: { containers: [], ...present.spec, nodeName },
    };
    server.store.put("/pods", { ...bound });
  };
  api.onChange(coreV1.Pod, ({ type, object }) => {
    if (type === "ADDED" && !object.spec?.schedulingGates?.length) queueMicrotask(() => bind(keyOf(object)));
  });
}
