import { describe, expect, it } from "vitest";
import { errorCatalogue, GatewayError } from "./errors.ts";

describe("the error catalogue", () => {
  it("gives every error a code that stays, a status of HTTP, and a remedy for people", () => {
    const error = new GatewayError("BERTH_SLOT_TAKEN", "pi has slot 3");
    expect(error).toMatchObject({
      name: "GatewayError",
      code: "BERTH_SLOT_TAKEN",
      message: "pi has slot 3",
      details: {},
    });
    expect([error.status, error.remedy]).toEqual([409, errorCatalogue.BERTH_SLOT_TAKEN.remedy]);
    for (const [code, { status, title, remedy }] of Object.entries(errorCatalogue)) {
      expect(status, code).toBeGreaterThanOrEqual(400);
      expect(status, code).toBeLessThan(600);
      expect(title, code).toMatch(/^[A-Z].*[^.]$/);
      expect(remedy, code).toMatch(/^[A-Z].*\.$/);
    }
  });
});
