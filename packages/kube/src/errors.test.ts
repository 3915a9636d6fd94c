import { describe, expect, it } from "vitest";
import { errorCatalogue, hasCode, KubeError } from "./errors.ts";

describe("the error catalogue", () => {
  it("gives every error a code that stays and a remedy for people", () => {
    const error = new KubeError("KUBE_SELECTOR_INVALID", "no");
    expect(error).toMatchObject({ name: "KubeError", message: "no", remedy: errorCatalogue.KUBE_SELECTOR_INVALID });
    expect(hasCode(error, "KUBE_SELECTOR_INVALID")).toBe(true);
    expect(hasCode(error, "KUBE_SHUT_DOWN")).toBe(false);
    expect(hasCode(new Error("no"), "KUBE_SHUT_DOWN")).toBe(false);
  });
});
