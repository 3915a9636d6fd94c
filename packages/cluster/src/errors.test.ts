import { describe, expect, it } from "vitest";
import { ClusterError, errorCatalogue } from "./errors.ts";

describe("the error catalogue", () => {
  it("gives every error a code that stays and a remedy for people", () => {
    const error = new ClusterError("BERTH_CLUSTER_NOT_ROOT", "no");
    expect(error).toMatchObject({ name: "ClusterError", code: "BERTH_CLUSTER_NOT_ROOT", message: "no" });
    expect(error.remedy).toBe(errorCatalogue.BERTH_CLUSTER_NOT_ROOT);
  });
});
