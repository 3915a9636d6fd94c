import { describe, expect, it } from "vitest";
import { negotiated } from "./accept.ts";

describe("the form of an answer", () => {
  it("is the first that we know of what is wanted most", () => {
    expect(negotiated(undefined)).toEqual({ format: "json", as: undefined });
    expect(negotiated("*/*").format).toBe("json");
    expect(negotiated("application/vnd.kubernetes.protobuf,application/json").format).toBe("json");
    expect(negotiated("application/json;q=0.5, application/yaml").format).toBe("yaml");
    expect(negotiated("text/html,application/xhtml+xml,*/*;q=0.8").format).toBe("json");
  });

  it("is a table for kubectl, and only one that we know", () => {
    const kubectl =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
    expect(negotiated(kubectl).as).toEqual({ kind: "Table", version: "v1", group: "meta.k8s.io" });
    expect(negotiated("application/json;as=Table;v=v9;g=meta.k8s.io,application/json").as).toBeUndefined();
  });

  it("is refused if there is none", () => {
    expect(() => negotiated("application/xml")).toThrow(/406: Not Acceptable/);
    expect(() => negotiated("application/json;as=Nothing;v=v1;g=meta.k8s.io")).toThrow(/only the following/);
    expect(() => negotiated("application/yaml", true)).toThrow(/406/);
    expect(() => negotiated("application/json;q=0")).toThrow(/406/);
  });
});
