import { describe, expect, it } from "vitest";
import { errorCatalogue, OperatorError } from "./errors.ts";

describe("the error catalogue", () => {
  it("gives every error a code that stays and a remedy for people", () => {
    const error = new OperatorError("BERTH_EXTENDER_OPEN", "no");
    expect(error).toMatchObject({ name: "OperatorError", code: "BERTH_EXTENDER_OPEN", message: "no" });
    expect(error.remedy).toBe(errorCatalogue.BERTH_EXTENDER_OPEN);
  });
});
