/** The rules of stateful sets. */
import type { appsV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkLabel, checkNotNegative, checkOneOf } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { same } from "../common/semantic.ts";
import { checkClaimSpec, defaultClaimSpec } from "../core/persistent-volume-claim.ts";
import type { PodTemplate } from "../pod/types.ts";
import { checkOwnSelector } from "./deployment.ts";
import {
  checkCollisions,
  checkLasting,
  checkReplicaCounts,
  checkSelected,
  checkTemplate,
  defaultTemplate,
  prepareTemplate,
} from "./template.ts";

type StatefulSet = LooseObject<appsV1.StatefulSet>;
type Spec = Loose<appsV1.StatefulSetSpec>;

/** What may change once it is there. */
const CHANGEABLE = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
] as const;

export const statefulSetRules: Rules = {
  names: "label",
  default: ({ spec }: StatefulSet) => {
    if (spec) defaultSpec(spec);
  },
  prepareForCreate: (set: StatefulSet) => {
    set.status = { replicas: 0, availableReplicas: 0 };
    prepare(set);
  },
  validate: ({ spec = {} }: StatefulSet, errors) => checkSpec(spec, errors, true),
  prepareForUpdate: (set: StatefulSet) => prepare(set),
  validateUpdate: ({ spec = {} }: StatefulSet, { spec: old = {} }: StatefulSet, errors) => {
    checkSpec(spec, errors, false);
    const [rest, before]: [Spec, Spec] = [{ ...spec }, { ...old }];
    for (const name of CHANGEABLE) {
      delete rest[name];
      delete before[name];
    }
    if (!same(rest, before)) {
      const list = "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit'";
      const more = "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
      errors.forbidden("spec", `updates to statefulset spec for fields other than ${list}, ${more} are forbidden`);
    }
  },
  validateStatusUpdate: ({ status = {} }: StatefulSet, before: StatefulSet, errors) => {
    const counts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    checkReplicaCounts(status, counts, errors, "status.readyReplicas");
    checkCollisions(status, before.status ?? {}, errors);
  },
};

function defaultSpec(spec: Spec): void {
  spec.podManagementPolicy ||= "OrderedReady";
  spec.updateStrategy ??= {};
  const { updateStrategy } = spec;
  if (!updateStrategy.type) {
    updateStrategy.type = "RollingUpdate";
    updateStrategy.rollingUpdate ??= {};
  }
  if (updateStrategy.type === "RollingUpdate" && updateStrategy.rollingUpdate) {
    updateStrategy.rollingUpdate.partition ??= 0;
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= "Retain";
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= "Retain";
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion = "v1";
    claim.kind = "PersistentVolumeClaim";
    claim.spec ??= {};
    defaultClaimSpec(claim.spec);
    claim.status ??= {};
    claim.status.phase ||= "Pending";
  }
  defaultTemplate(spec.template);
}

function prepare({ spec }: StatefulSet): void {
  prepareTemplate(spec?.template);
  delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
}

function checkSpec(spec: Spec, errors: FieldErrors, isNew: boolean): void {
  const { podManagementPolicy = "", selector, template = {}, volumeClaimTemplates: claims = [] } = spec;
  if (podManagementPolicy !== "OrderedReady" && podManagementPolicy !== "Parallel") {
    errors.invalid("spec.podManagementPolicy", podManagementPolicy, "must be 'OrderedReady' or 'Parallel'");
  }
  checkUpdateStrategy(spec.updateStrategy ?? {}, "spec.updateStrategy", errors);
  for (const when of ["whenDeleted", "whenScaled"] as const) {
    const policy = spec.persistentVolumeClaimRetentionPolicy?.[when];
    checkOneOf(policy, ["Retain", "Delete"], `spec.persistentVolumeClaimRetentionPolicy.${when}`, errors);
  }
  if (isNew) {
    for (const [index, claim] of claims.entries()) {
      checkClaimSpec(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`, errors);
    }
  }
  checkNotNegative(spec.replicas, "spec.replicas", errors);
  checkNotNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  checkNotNegative(spec.ordinals?.start, "spec.ordinals.start", errors);
  if (isNew && spec.serviceName) checkLabel(spec.serviceName, "spec.serviceName", errors);
  checkOwnSelector(selector, "statefulset", "spec.selector", errors);
  if (errors.causes.some(({ field }) => field.startsWith("spec.selector.")))
    errors.invalid("spec.selector", selector, "");
  else {
    checkSelected(template, selector, "spec.template", errors);
    checkTemplate(templateOf(template, claims), "spec.template", errors);
  }
  checkLasting(template, "StatefulSet", "spec.template", errors);
}

/** The template as its pods will have it: with names of their own, and with a volume for each claim. */
function templateOf(
  { metadata, spec = {} }: PodTemplate,
  claims: NonNullable<Spec["volumeClaimTemplates"]>,
): PodTemplate {
  const { subdomain: _subdomain, hostname: _hostname, ...rest } = spec;
  const names = new Set(claims.map((claim) => claim.metadata?.name ?? ""));
  const added = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const volumes = [...added, ...(spec.volumes ?? []).filter(({ name = "" }) => !names.has(name))];
  return { ...(metadata && { metadata }), spec: { ...rest, ...(volumes.length > 0 && { volumes }) } };
}

function checkUpdateStrategy(strategy: NonNullable<Spec["updateStrategy"]>, field: string, errors: FieldErrors): void {
  const { type, rollingUpdate } = strategy;
  switch (type) {
    case "OnDelete":
      if (rollingUpdate) {
        const why = "only allowed for updateStrategy 'RollingUpdate'";
        errors.invalid(`${field}.rollingUpdate`, rollingUpdate, why);
      }
      break;
    case "RollingUpdate":
      checkNotNegative(rollingUpdate?.partition, `${field}.rollingUpdate.partition`, errors);
      break;
    default:
      errors.invalid(field, strategy, "must be 'RollingUpdate' or 'OnDelete'");
  }
}
