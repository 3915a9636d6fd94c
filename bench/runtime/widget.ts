/** The custom resource that every runtime under measurement reconciles, each in a group and a namespace of its own. */

/** Where one runtime works: its own kind of Widget in its own namespace, so that all of them can run at once. */
export interface Workplace {
  /** Of the runtime: "ours", "kopf" … */
  readonly name: string;
  readonly group: string;
  readonly namespace: string;
}

export function workplace(name: string): Workplace {
  return { name, group: `${name}.bench.berth.dev`, namespace: `bench-${name}` };
}

/** What a workplace consists of, in the order in which to create it. */
export function manifests({ group, namespace }: Workplace): object[] {
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget" },
        versions: [
          { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } },
        ],
      },
    },
  ];
}

const openAPIV3Schema = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: { type: "object", required: ["image"], properties: { image: { type: "string" } } },
    status: {
      type: "object",
      properties: {
        podName: { type: "string" },
        // Metacontroller always writes it; a schema that dropped it would have it written again at every sync.
        observedGeneration: { type: "integer", format: "int64" },
      },
    },
  },
};

/** One Widget. The runtime answers it with a Pod of the same name. */
export function widget({ group, namespace }: Workplace, name: string): object {
  return {
    apiVersion: `${group}/v1`,
    kind: "Widget",
    metadata: { name, namespace },
    spec: { image: "example.org/widget:1" },
  };
}
