/** The rules of replica sets, and of their ancestors, replication controllers. */
import type { appsV1, coreV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkNotNegative, checkUnchanged } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { isContained, isEmptyMap } from "../common/maps.ts";
import { textsOf } from "../common/selectors.ts";
import { same } from "../common/semantic.ts";
import { checkOwnSelector, checkReadable } from "./deployment.ts";
import {
  checkLasting,
  checkLastingTemplate,
  checkReplicaCounts,
  checkTemplate,
  defaultTemplate,
  prepareTemplate,
} from "./template.ts";

type ReplicaSet = LooseObject<appsV1.ReplicaSet>;
type ReplicationController = LooseObject<coreV1.ReplicationController>;
type ControllerSpec = Loose<coreV1.ReplicationControllerSpec>;

const COUNTS = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];

export const replicaSetRules: Rules = {
  default: ({ spec }: ReplicaSet) => {
    if (!spec) return;
    spec.replicas ??= 1;
    defaultTemplate(spec.template);
  },
  prepareForCreate: (set: ReplicaSet) => {
    set.status = { replicas: 0 };
    prepareTemplate(set.spec?.template);
  },
  validate: ({ spec = {} }: ReplicaSet, errors) => checkSpec(spec, errors),
  prepareForUpdate: ({ spec }: ReplicaSet) => prepareTemplate(spec?.template),
  validateUpdate: ({ spec = {} }: ReplicaSet, { spec: old = {} }: ReplicaSet, errors) => {
    checkSpec(spec, errors);
    checkUnchanged(same(spec.selector, old.selector), spec.selector, "spec.selector", errors);
  },
  validateStatusUpdate: ({ status = {} }: ReplicaSet, _before, errors) => checkReplicaCounts(status, COUNTS, errors),
  fields: ({ status = {} }: ReplicaSet) => ({ "status.replicas": String(status.replicas ?? 0) }),
};

function checkSpec(spec: Loose<appsV1.ReplicaSetSpec>, errors: FieldErrors): void {
  const { replicas, selector, template = {}, minReadySeconds } = spec;
  checkNotNegative(replicas, "spec.replicas", errors);
  checkNotNegative(minReadySeconds, "spec.minReadySeconds", errors);
  checkOwnSelector(selector, "deployment", "spec.selector", errors);
  if (checkReadable(selector, "spec.selector", errors)) {
    checkLastingTemplate(template, selector, "ReplicaSet", "spec.template", errors);
  }
}

export const replicationControllerRules: Rules = {
  default: ({ spec, metadata }: ReplicationController) => {
    if (!spec) return;
    spec.replicas ??= 1;
    const labels = textsOf(spec.template?.metadata?.labels);
    if (labels) {
      if (isEmptyMap(spec.selector)) spec.selector = { ...labels };
      if (isEmptyMap(metadata.labels)) metadata.labels = { ...labels };
    }
    defaultTemplate(spec.template);
  },
  prepareForCreate: (controller: ReplicationController) => {
    controller.status = { replicas: 0 };
    prepareTemplate(controller.spec?.template);
  },
  validate: ({ spec = {} }: ReplicationController, errors) => checkControllerSpec(spec, errors),
  prepareForUpdate: ({ spec }: ReplicationController) => prepareTemplate(spec?.template),
  validateUpdate: ({ spec = {} }: ReplicationController, _before, errors) => checkControllerSpec(spec, errors),
  validateStatusUpdate: ({ status = {} }: ReplicationController, _before, errors) =>
    checkReplicaCounts(status, COUNTS, errors),
  fields: ({ status = {} }: ReplicationController) => ({ "status.replicas": String(status.replicas ?? 0) }),
};

function checkControllerSpec(spec: ControllerSpec, errors: FieldErrors): void {
  const { replicas, selector, template, minReadySeconds } = spec;
  checkNotNegative(minReadySeconds, "spec.minReadySeconds", errors);
  if (isEmptyMap(selector)) errors.required("spec.selector");
  checkNotNegative(replicas, "spec.replicas", errors);
  if (!template) errors.required("spec.template");
  else {
    const { labels } = template.metadata ?? {};
    if (!isContained(selector, labels)) {
      const why = "`selector` does not match template `labels`";
      errors.invalid("spec.template.metadata.labels", labels ?? null, why);
    }
    checkTemplate(template, "spec.template", errors);
    checkLasting(template, "ReplicationController", "spec.template", errors);
  }
}
