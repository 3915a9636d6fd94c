/** Conditions in the form that the API has for all kinds; older kinds have forms of their own. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkQualified } from "./formats.ts";

interface Condition {
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly lastTransitionTime?: string | undefined;
}

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_WORDS =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters " +
  "or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or " +
  "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const LONGEST_REASON = 1024;
const LONGEST_MESSAGE = 32 * 1024;

export function checkConditions(
  conditions: readonly Condition[] | undefined,
  field: string,
  errors: FieldErrors,
): void {
  const types = new Set<string>();
  for (const [index, condition] of conditions?.entries() ?? []) {
    const { type = "", status = "", reason = "", message = "", observedGeneration = 0 } = condition;
    const place = `${field}[${index}]`;
    if (types.has(type)) errors.duplicate(`${place}.type`, type);
    types.add(type);
    checkQualified(type, `${place}.type`, errors);
    if (!["False", "True", "Unknown"].includes(status)) {
      errors.notSupported(`${place}.status`, status, ["False", "True", "Unknown"]);
    }
    if (observedGeneration < 0) {
      errors.invalid(`${place}.observedGeneration`, observedGeneration, "must be greater than or equal to zero");
    }
    if (!condition.lastTransitionTime) errors.required(`${place}.lastTransitionTime`);
    if (reason === "") errors.required(`${place}.reason`);
    else {
      if (!REASON.test(reason)) errors.invalid(`${place}.reason`, reason, REASON_WORDS);
      if (reason.length > LONGEST_REASON) errors.tooLong(`${place}.reason`, LONGEST_REASON);
    }
    if (message.length > LONGEST_MESSAGE) errors.tooLong(`${place}.message`, LONGEST_MESSAGE);
  }
}
