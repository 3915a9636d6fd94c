/** The pod template of executors: what people wrote, and over it what makes an executor of Berth. Pure. */
import type { coreV1 } from "@berth/kube";
import { priority, SLOT_GATE } from "../names.ts";
import type { RunOrder } from "./application.ts";
import { executorAnnotations, executorLabels } from "./labels.ts";
import { objectAt, objectsAt, textAt, textsAt, without } from "./reading.ts";
import { refuse } from "./refusal.ts";

export interface PodTemplate {
  readonly metadata: coreV1.PodTemplateSpec["metadata"] & object;
  readonly spec: coreV1.PodSpec;
}

/** Reads a template. Only what Berth has to do with is looked at; the rest is for the API server to judge. */
export function templateAt(value: unknown, path: string): PodTemplate {
  const given = objectAt(value, path);
  const metadata = objectAt(given.metadata, `${path}.metadata`);
  const spec = objectAt(given.spec, `${path}.spec`);
  if (spec.nodeName !== undefined) {
    refuse(
      "BERTH_APPLICATION_INVALID",
      `${path}.spec.nodeName must not be given: Berth chooses the nodes of executors`,
    );
  }
  if (spec.resources !== undefined) {
    const why = "it would count instead of what the containers ask for";
    refuse("BERTH_APPLICATION_INVALID", `${path}.spec.resources must not be given: ${why}`);
  }
  const lists = {
    containers: containersAt(spec.containers, `${path}.spec.containers`),
    initContainers: containersAt(spec.initContainers, `${path}.spec.initContainers`),
    tolerations: objectsAt(spec.tolerations, `${path}.spec.tolerations`) as readonly object[] as coreV1.Toleration[],
    schedulingGates: objectsAt(spec.schedulingGates, `${path}.spec.schedulingGates`) as readonly object[] as Gate[],
  };
  const present = Object.entries(lists).filter(([name, list]) => name === "containers" || list.length > 0);
  return {
    metadata: {
      ...metadata,
      labels: textsAt(metadata.labels, `${path}.metadata.labels`),
      annotations: textsAt(metadata.annotations, `${path}.metadata.annotations`),
    },
    spec: { ...without(spec, ...Object.keys(lists)), ...(Object.fromEntries(present) as typeof lists) },
  };
}

type Gate = coreV1.PodSchedulingGate;

/** Reads a list of containers: what they are called, and what they ask for. */
export function containersAt(value: unknown, path: string): coreV1.Container[] {
  return objectsAt(value, path).map((container, index) => {
    const at = `${path}[${index}]`;
    const resources = objectAt(container.resources, `${at}.resources`);
    const amounts: coreV1.ResourceRequirements = {};
    for (const which of ["requests", "limits"] as const) {
      if (resources[which] !== undefined) amounts[which] = textsAt(resources[which], `${at}.resources.${which}`);
    }
    return {
      ...container,
      name: textAt(container.name, `${at}.name`) ?? "",
      ...(container.resources !== undefined && {
        resources: { ...without(resources, "requests", "limits"), ...amounts },
      }),
    };
  });
}

/** The container of that name, or else a new one before all others. */
export function withContainer(template: PodTemplate, name: string): PodTemplate {
  const { containers } = template.spec;
  if (containers.some((container) => container.name === name)) return template;
  return { ...template, spec: { ...template.spec, containers: [{ name }, ...containers] } };
}

/** Replaces a container, which stays in its place. */
export function withReplaced(template: PodTemplate, old: coreV1.Container, container: coreV1.Container): PodTemplate {
  const containers = template.spec.containers.map((each) => (each === old ? container : each));
  return { ...template, spec: { ...template.spec, containers } };
}

/** The template of pods that wait for their slots, may take them, and are found. */
export function forPlacement({ metadata, spec }: PodTemplate, order: RunOrder): PodTemplate {
  const { placement } = order;
  const gates = (spec.schedulingGates ?? []).filter(({ name }) => name !== SLOT_GATE);
  gates.push({ name: SLOT_GATE });
  const tolerations = merged(spec.tolerations, order.tolerations);
  return {
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...executorLabels(order) },
      annotations: { ...metadata.annotations, ...executorAnnotations(order) },
    },
    spec: {
      // A number would have to agree with the class, and the API server fills it in.
      ...without(spec, "priority", "preemptionPolicy", "schedulingGates"),
      priorityClassName: priority.slot,
      schedulingGates: gates,
      ...(placement.type === "extender" && { schedulerName: placement.schedulerName }),
      ...(tolerations.length > 0 && { tolerations }),
    },
  };
}

/** All of both, each once. */
function merged(
  given: readonly coreV1.Toleration[] = [],
  added: readonly coreV1.Toleration[] = [],
): coreV1.Toleration[] {
  const textOf = ({ key, operator, value, effect, tolerationSeconds }: coreV1.Toleration) =>
    JSON.stringify([key ?? "", operator ?? "Equal", value ?? "", effect ?? "", tolerationSeconds ?? null]);
  const present = new Set(given.map(textOf));
  return [...given, ...added.filter((toleration) => !present.has(textOf(toleration)))];
}
