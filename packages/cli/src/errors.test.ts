import { describe, expect, it } from "vitest";
import { CliError, errorCatalogue } from "./errors.ts";

describe("the error catalogue", () => {
  it("gives every error a code that stays and a remedy for people", () => {
    const error = new CliError("BERTH_CLI_FILE", "no");
    expect(error).toMatchObject({ name: "CliError", code: "BERTH_CLI_FILE", message: "no" });
    expect(error.remedy).toBe(errorCatalogue.BERTH_CLI_FILE);
  });
});
