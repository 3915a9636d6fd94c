/** A container's environment variables, as far as a simulated command can ask for them. */
import type { coreV1 } from "@berth/kube";

/** What a container's variables are; those out of secrets, config maps and the like are empty. */
export function environmentOf(pod: coreV1.Pod, container: coreV1.Container): ReadonlyMap<string, string> {
  const variables = new Map([["HOSTNAME", pod.spec?.hostname ?? pod.metadata.name ?? ""]]);
  for (const { name, value, valueFrom } of container.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath;
    variables.set(name, path === undefined ? expanded(value ?? "", variables) : field(pod, path));
  }
  return variables;
}

/** `$(NAME)` is replaced by the kubelet itself, if there is such a variable; `$$` is a dollar sign. */
export function expanded(text: string, variables: ReadonlyMap<string, string>): string {
  if (!text.includes("$")) return text;
  return text.replaceAll(/\$\$|\$\(([A-Za-z_][\w.-]*)\)/g, (all, name) =>
    all === "$$" ? "$" : (variables.get(name) ?? all),
  );
}

const KEYED = /^metadata\.(labels|annotations)\['(.+)'\]$/;

function field({ metadata, spec, status }: coreV1.Pod, path: string): string {
  const [, map, key] = KEYED.exec(path) ?? [];
  if (map !== undefined && key !== undefined) return metadata[map as "labels" | "annotations"]?.[key] ?? "";
  const fields: Readonly<Record<string, string | undefined>> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "metadata.uid": metadata.uid,
    "spec.nodeName": spec?.nodeName,
    "spec.serviceAccountName": spec?.serviceAccountName,
    "status.hostIP": status?.hostIP,
    "status.podIP": status?.podIP,
  };
  return (Object.hasOwn(fields, path) ? fields[path] : undefined) ?? "";
}
