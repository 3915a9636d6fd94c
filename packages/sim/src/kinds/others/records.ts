/** The rules of kinds that only keep something for others: templates of pods, revisions. */
import type { appsV1, coreV1 } from "@berth/kube";
import type { Rules } from "../../api/resource.ts";
import { checkNotNegative, checkUnchanged } from "../common/formats.ts";
import type { LooseObject } from "../common/loose.ts";
import { same } from "../common/semantic.ts";
import { checkTemplate, defaultTemplate, prepareTemplate } from "../workloads/template.ts";

type PodTemplate = LooseObject<coreV1.PodTemplate>;
type Revision = LooseObject<appsV1.ControllerRevision>;

export const podTemplateRules: Rules = {
  generation: true,
  default: ({ template }: PodTemplate) => defaultTemplate(template),
  prepareForCreate: ({ template }: PodTemplate) => prepareTemplate(template),
  validate: ({ template = {} }: PodTemplate, errors) => checkTemplate(template, "template", errors),
  prepareForUpdate: ({ template }: PodTemplate) => prepareTemplate(template),
  validateUpdate: ({ template = {} }: PodTemplate, _before, errors) => checkTemplate(template, "template", errors),
};

export const controllerRevisionRules: Rules = {
  validate: ({ revision, data }: Revision, errors) => {
    checkNotNegative(revision, "revision", errors);
    if (data === undefined || data === null) errors.required("data", "data is mandatory");
    else if (typeof data !== "object" || Array.isArray(data)) {
      errors.required("data", "data must be a valid JSON object");
    }
  },
  validateUpdate: ({ revision, data }: Revision, before: Revision, errors) => {
    checkNotNegative(revision, "revision", errors);
    checkUnchanged(same(data, before.data), data, "data", errors);
  },
};
