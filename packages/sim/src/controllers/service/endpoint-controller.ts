/**
 * Keeps a list of the pods behind every Service: EndpointSlices, and Endpoints for those who still look there. Endpoints
 * that somebody makes by hand are not mirrored, and there is one address family.
 */
import { coreV1, discoveryV1, keyOf, LabelSelector } from "@berth/kube";
import { equal } from "../../api/json.ts";
import { LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { IndexBy } from "../index-by.ts";
import { keyFrom, referenceTo } from "../parents.ts";
import { isReady } from "../pod-order.ts";
import { PodSelections } from "../pod-selections.ts";
import { endpointOf, isReachable, portsOn } from "./endpoints.ts";

const MANAGED_BY = "endpointslice-controller.k8s.io";
const SERVICE_NAME = "kubernetes.io/service-name";
const MOST_IN_SLICE = 100;

/** Endpoints that have the same ports. */
interface Group {
  readonly ports: discoveryV1.EndpointPort[];
  readonly endpoints: discoveryV1.Endpoint[];
}

export class EndpointController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  readonly #slices: IndexBy<discoveryV1.EndpointSlice>;
  #selections: PodSelections<coreV1.Service> | undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:endpointslice-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
    this.#slices = new IndexBy(surroundings.server, discoveryV1.EndpointSlice, ({ metadata: { namespace, labels } }) =>
      labels?.["endpointslice.kubernetes.io/managed-by"] === MANAGED_BY
        ? `${namespace}/${labels[SERVICE_NAME]}`
        : undefined,
    );
  }

  start(): void {
    const selectors = new WeakMap<object, LabelSelector>();
    this.#selections = new PodSelections(this.#surroundings, {
      kind: coreV1.Service,
      selectorOf: ({ spec }) => {
        const { selector, type } = spec ?? {};
        if (!selector || Object.keys(selector).length === 0 || type === "ExternalName") return undefined;
        const known = selectors.get(selector) ?? LabelSelector.fromSpec({ matchLabels: selector });
        selectors.set(selector, known);
        return known;
      },
      changed: (key) => this.#bench.add(key),
      matters: (pod, before) =>
        pod.status?.podIP !== before.status?.podIP ||
        pod.status?.phase !== before.status?.phase ||
        pod.metadata.deletionTimestamp !== before.metadata.deletionTimestamp ||
        isReady(pod) !== isReady(before),
    });
  }

  stop(): void {
    this.#selections?.stop();
    this.#bench.stop();
  }

  #sync(key: string): void {
    const service = this.#api.get(coreV1.Service, keyFrom(key));
    const hasSelector = Object.keys(service?.spec?.selector ?? {}).length > 0 && service?.spec?.type !== "ExternalName";
    if (!service || !hasSelector) {
      for (const slice of this.#slices.get(key).values()) this.#api.delete(discoveryV1.EndpointSlice, keyOf(slice));
      return;
    }
    if (service.metadata.deletionTimestamp !== undefined) return;
    const groups = this.#groupsOf(service, key);
    this.#writeSlices(service, key, groups);
    this.#writeEndpoints(service, groups);
  }

  #groupsOf(service: coreV1.Service, key: string): readonly Group[] {
    const groups = new Map<string, Group>();
    for (const pod of this.#selections?.podsOf(key).values() ?? []) {
      if (!isReachable(pod)) continue;
      const ports = portsOn(pod, service);
      const id = JSON.stringify(ports);
      const group = groups.get(id) ?? { ports, endpoints: [] };
      const node = this.#api.get(coreV1.Node, { name: pod.spec?.nodeName ?? "" });
      group.endpoints.push(endpointOf(pod, service, node?.metadata.labels?.["topology.kubernetes.io/zone"]));
      groups.set(id, group);
    }
    // A Service without pods has a slice without endpoints.
    return groups.size > 0 ? [...groups.values()] : [{ ports: [], endpoints: [] }];
  }

  #writeSlices(service: coreV1.Service, key: string, groups: readonly Group[]): void {
    const wanted = groups.flatMap(({ ports, endpoints }) => {
      const count = Math.max(1, Math.ceil(endpoints.length / MOST_IN_SLICE));
      return Array.from({ length: count }, (_, index) => ({
        ports,
        endpoints: endpoints.slice(index * MOST_IN_SLICE, (index + 1) * MOST_IN_SLICE),
      }));
    });
    const present = [...this.#slices.get(key).values()];
    for (const [index, { ports, endpoints }] of wanted.entries()) {
      const slice = present[index];
      if (!slice) this.#api.create(discoveryV1.EndpointSlice, newSlice(service, ports, endpoints));
      else if (!equal(slice.endpoints ?? [], endpoints) || !equal(slice.ports ?? [], ports)) {
        this.#api.update(discoveryV1.EndpointSlice, { ...slice, ports, endpoints });
      }
    }
    for (const slice of present.slice(wanted.length)) this.#api.delete(discoveryV1.EndpointSlice, keyOf(slice));
  }

  #writeEndpoints(service: coreV1.Service, groups: readonly Group[]): void {
    const subsets = groups.flatMap(({ ports, endpoints }): coreV1.EndpointSubset[] => {
      if (endpoints.length === 0) return [];
      const addressOf = ({
        addresses,
        nodeName,
        targetRef,
        hostname,
      }: discoveryV1.Endpoint): coreV1.EndpointAddress => ({
        ip: addresses[0] ?? "",
        ...(hostname && { hostname }),
        ...(nodeName && { nodeName }),
        ...(targetRef && { targetRef }),
      });
      const ready = endpoints.filter(({ conditions }) => conditions?.ready);
      const others = endpoints.filter(({ conditions }) => !conditions?.ready && !conditions?.terminating);
      const all = ports.map(({ name, port = 0, protocol, appProtocol }) => ({
        ...(name && { name }),
        port,
        ...(protocol && { protocol }),
        ...(appProtocol && { appProtocol }),
      }));
      return [
        {
          ...(ready.length > 0 && { addresses: ready.map(addressOf) }),
          ...(others.length > 0 && { notReadyAddresses: others.map(addressOf) }),
          ...(all.length > 0 && { ports: all }),
        },
      ];
    });
    const { namespace, name = "", labels } = service.metadata;
    const present = this.#api.get(coreV1.Endpoints, { namespace, name });
    if (present && equal(present.subsets ?? [], subsets)) return;
    const metadata = {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...labels, "endpoints.kubernetes.io/managed-by": "endpoint-controller" },
    };
    if (!present) this.#api.create(coreV1.Endpoints, { metadata, subsets });
    else this.#api.update(coreV1.Endpoints, { ...present, subsets });
  }
}

function newSlice(
  service: coreV1.Service,
  ports: discoveryV1.EndpointPort[],
  endpoints: discoveryV1.Endpoint[],
): discoveryV1.EndpointSlice {
  const { name = "", namespace, labels } = service.metadata;
  return {
    metadata: {
      generateName: `${name}-`,
      ...(namespace !== undefined && { namespace }),
      labels: {
        ...labels,
        [SERVICE_NAME]: name,
        "endpointslice.kubernetes.io/managed-by": MANAGED_BY,
        ...(service.spec?.clusterIP === "None" && { "service.kubernetes.io/headless": "" }),
      },
      ownerReferences: [referenceTo(service, coreV1.Service)],
    },
    addressType: "IPv4",
    ports,
    endpoints,
  };
}
