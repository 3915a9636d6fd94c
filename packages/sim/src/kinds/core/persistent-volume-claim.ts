/** The rules of claims on storage, and of templates of them. */
import type { coreV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkAnnotations, checkLabels } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkLabel, checkOneOf, checkSubdomain, checkUnchanged } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { own } from "../common/maps.ts";
import { isLess, isNegative, isPositive, quantityOf, roundResources } from "../common/quantities.ts";
import { checkSelector } from "../common/selectors.ts";
import { same } from "../common/semantic.ts";

type Claim = LooseObject<coreV1.PersistentVolumeClaim>;
export type ClaimSpec = Loose<coreV1.PersistentVolumeClaimSpec>;
type ClaimTemplate = Loose<coreV1.PersistentVolumeClaimTemplate>;

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const VOLUME_MODES = ["Block", "Filesystem"];
const BETA_CLASS = "volume.beta.kubernetes.io/storage-class";

export const persistentVolumeClaimRules: Rules = {
  generation: false,
  default: ({ spec }: Claim) => {
    if (spec) defaultClaimSpec(spec);
  },
  defaultStatus: ({ status }: Claim) => {
    if (status) status.phase ||= "Pending";
  },
  prepareForCreate: (claim: Claim) => {
    claim.status = { phase: "Pending" };
    if (claim.spec) completeSources(claim.spec, undefined);
  },
  validate: ({ spec = {} }: Claim, errors) => checkClaimSpec(spec, "spec", errors),
  prepareForUpdate: ({ spec }: Claim, before: Claim) => {
    if (spec) completeSources(spec, before.spec);
  },
  validateUpdate: (claim: Claim, before: Claim, errors) => checkChange(claim, before, errors),
  validateStatusUpdate: ({ status = {} }: Claim, _before, errors) => {
    for (const name in status.capacity) {
      const amount = status.capacity[name] as string;
      if (isNegative(amount)) errors.invalid(`status.capacity[${name}]`, amount, "must be a valid resource quantity");
    }
  },
  fields: ({ metadata }: Claim) => ({ name: metadata.name ?? "" }),
};

export function defaultClaimSpec(spec: ClaimSpec): void {
  spec.volumeMode ??= "Filesystem";
  roundResources(spec.resources?.limits);
  roundResources(spec.resources?.requests);
}

/** Two ways to say what a volume begins with; each is shown whichever was used. */
function completeSources(spec: ClaimSpec, old: ClaimSpec | undefined): void {
  // The older way has always let pass in silence what it does not know.
  // Volumes of other namespaces are a feature that is switched off.
  if (spec.dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef;
  const known = isKnownSource(spec.dataSource) || old?.dataSource || old?.dataSourceRef || spec.dataSourceRef;
  if (!known) delete spec.dataSource;
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  else if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    const { namespace: _, ...local } = dataSourceRef;
    spec.dataSource = local;
  }
}

function isKnownSource({ kind, apiGroup }: NonNullable<ClaimSpec["dataSource"]> = {}): boolean {
  if (kind === "PersistentVolumeClaim") return !apiGroup;
  return kind === "VolumeSnapshot" && apiGroup === "snapshot.storage.k8s.io";
}

export function checkClaimTemplate(
  { metadata = {}, spec = {} }: ClaimTemplate,
  field: string,
  errors: FieldErrors,
): void {
  const { labels, annotations, ...others } = metadata;
  checkAnnotations(annotations as Record<string, string>, `${field}.metadata.annotations`, errors);
  checkLabels(labels as Record<string, string>, `${field}.metadata.labels`, errors);
  for (const name in others) errors.forbidden(`${field}.metadata.${name}`, "cannot be set");
  checkClaimSpec(spec, `${field}.spec`, errors);
}

/** How a volume can be used. */
export function checkAccessModes(modes: readonly string[], field: string, errors: FieldErrors): void {
  for (const mode of modes) checkOneOf(mode, ACCESS_MODES, field, errors);
  const isAlone = (mode: string) => mode === "ReadWriteOncePod";
  if (modes.some(isAlone) && modes.some((mode) => !isAlone(mode) && ACCESS_MODES.includes(mode))) {
    errors.forbidden(field, "may not use ReadWriteOncePod with other access modes");
  }
}

export function checkClaimSpec(spec: ClaimSpec, field: string, errors: FieldErrors): void {
  const { accessModes = [], selector, resources, storageClassName, volumeMode, dataSource, dataSourceRef } = spec;
  const modes = `${field}.accessModes`;
  if (accessModes.length === 0) errors.required(modes, "at least 1 access mode is required");
  checkSelector(selector, `${field}.selector`, errors);
  checkAccessModes(accessModes, modes, errors);
  const size = own(resources?.requests, "storage");
  const place = `${field}.resources[storage]`;
  if (size === undefined) errors.required(place);
  else if (!isPositive(size)) errors.invalid(place, size, "must be greater than zero");
  if (storageClassName) checkSubdomain(storageClassName, `${field}.storageClassName`, errors);
  if (volumeMode !== undefined) checkOneOf(volumeMode, VOLUME_MODES, `${field}.volumeMode`, errors);
  if (dataSource) checkSource(dataSource, `${field}.dataSource`, errors);
  if (dataSourceRef) {
    checkSource(dataSourceRef, `${field}.dataSourceRef`, errors);
    if (dataSourceRef.namespace) checkLabel(dataSourceRef.namespace, `${field}.dataSourceRef.namespace`, errors);
  }
  if (dataSource && dataSourceRef?.namespace) {
    errors.invalid(field, `${field}.dataSource`, "may not be specified when dataSourceRef.namespace is specified");
  } else if (dataSource && dataSourceRef) {
    const { namespace: _, ...local } = dataSourceRef;
    if (!same(dataSource, local)) errors.invalid(field, `${field}.dataSource`, "must match dataSourceRef");
  }
  const { volumeAttributesClassName: attributes } = spec;
  if (attributes) checkSubdomain(attributes, `${field}.volumeAttributesClassName`, errors);
}

function checkSource(
  { name, kind = "", apiGroup }: NonNullable<ClaimSpec["dataSource"]>,
  field: string,
  errors: FieldErrors,
): void {
  if (!name) errors.required(`${field}.name`);
  if (!kind) errors.required(`${field}.kind`);
  if (apiGroup) checkSubdomain(apiGroup, `${field}.apiGroup`, errors);
  else if (kind !== "PersistentVolumeClaim") {
    errors.invalid(field, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
}

function checkChange(claim: Claim, before: Claim, errors: FieldErrors): void {
  const { spec = {}, status = {}, metadata } = claim;
  const { spec: old = {}, status: oldStatus = {} } = before;
  checkClaimSpec(spec, "spec", errors);
  const rest: ClaimSpec = { ...spec };
  // A volume is given once, and a class to a claim that had none.
  if (!old.volumeName) delete rest.volumeName;
  const [betaBefore, beta] = [own(before.metadata.annotations, BETA_CLASS), own(metadata.annotations, BETA_CLASS)];
  if (betaBefore !== beta) {
    errors.invalid(`metadata.annotations.${BETA_CLASS}`, beta ?? "", "field is immutable");
  }
  if (old.storageClassName === undefined && (betaBefore === undefined || betaBefore === spec.storageClassName)) {
    delete rest.storageClassName;
  }
  const [size, oldSize] = [own(spec.resources?.requests, "storage"), own(old.resources?.requests, "storage")];
  if (status.phase === "Bound") {
    if (rest.resources?.requests && oldSize !== undefined) {
      rest.resources = { ...rest.resources, requests: { ...rest.resources.requests, storage: oldSize } };
    }
    if (old.volumeAttributesClassName === undefined) delete rest.volumeAttributesClassName;
    else rest.volumeAttributesClassName = old.volumeAttributesClassName;
  }
  if (!same(rest, old)) {
    const except = "except resources.requests and volumeAttributesClassName for bound claims";
    errors.forbidden("spec", `spec is immutable after creation ${except}`);
  }
  if (isLess(size, oldSize) && quantityOf(size).compare(quantityOf(own(oldStatus.capacity, "storage"))) <= 0) {
    errors.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
  }
  checkUnchanged(spec.volumeMode === old.volumeMode, spec.volumeMode, "volumeMode", errors);
}
