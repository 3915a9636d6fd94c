/** Which questions a list or a watch may be asked, in the words of the real server. Pure. */
import { FieldErrors } from "./field-errors.ts";
import { type Query, text, wholeNumber } from "./parameters.ts";

const MATCH = "resourceVersionMatch";

/** Refuses questions that contradict themselves. */
export function checkListOptions(query: Query, isWatch: boolean): void {
  wholeNumber(query, "limit");
  wholeNumber(query, "timeoutSeconds");
  const errors = new FieldErrors();
  if (isWatch) checkWatch(query, errors);
  else checkList(query, errors);
  errors.throwIfAny({ group: "meta.k8s.io", kind: "ListOptions" }, "");
}

function checkList(query: Query, errors: FieldErrors): void {
  const [match, version] = [text(query, MATCH), text(query, "resourceVersion")];
  if (match !== "") {
    if (version === "") errors.forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`);
    if (text(query, "continue")) errors.forbidden(MATCH, `${MATCH} is forbidden when continue is provided`);
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.notSupported(MATCH, match, ["Exact", "NotOlderThan", ""]);
    }
    if (match === "Exact" && version === "0") {
      errors.forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`);
    }
  }
  if (text(query, "sendInitialEvents")) {
    errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
}

function checkWatch(query: Query, errors: FieldErrors): void {
  const match = text(query, MATCH);
  const asksForList = text(query, "sendInitialEvents") !== "";
  if (asksForList && match !== "NotOlderThan") {
    errors.forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`);
  }
  if (match === "") return;
  if (!asksForList) errors.forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`);
  if (match !== "NotOlderThan") errors.notSupported(MATCH, match, ["NotOlderThan"]);
  if (text(query, "continue")) errors.forbidden(MATCH, `${MATCH} is forbidden when continue is provided`);
}
