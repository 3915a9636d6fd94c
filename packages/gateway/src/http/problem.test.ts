/** Errors in our own terms. */
import { ApiError, KubeError } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { errorCatalogue, GatewayError } from "../errors.ts";
import { known, problemOf, rawAnswer } from "./problem.ts";

const api = (code: number, reason: string, message = "no") =>
  new ApiError({ code, reason, message }, { asked: "POST /apis/x" });

describe("a problem", () => {
  it("H1 has everything that RFC 9457 asks for, our code, and what to do", () => {
    const error = new GatewayError("BERTH_SLOT_TAKEN", "pi has slot 3", { details: { slot: 3 } });
    expect(problemOf(error)).toEqual({
      type: "https://berth.dev/errors/BERTH_SLOT_TAKEN",
      title: "Somebody has the slot",
      status: 409,
      detail: "pi has slot 3",
      code: "BERTH_SLOT_TAKEN",
      remedy: "Choose a free slot.",
      slot: 3,
    });
  });

  it.each([
    [404, "NotFound", "BERTH_NOT_FOUND"],
    [409, "AlreadyExists", "BERTH_ALREADY_EXISTS"],
    [409, "Conflict", "BERTH_CHANGED_MEANWHILE"],
    [422, "Invalid", "BERTH_MANIFEST_INVALID"],
    [400, "BadRequest", "BERTH_MANIFEST_INVALID"],
    [413, "RequestEntityTooLarge", "BERTH_BODY_TOO_LARGE"],
    [429, "TooManyRequests", "BERTH_UNAVAILABLE"],
    [503, "ServiceUnavailable", "BERTH_UNAVAILABLE"],
    [504, "Timeout", "BERTH_UNAVAILABLE"],
    [500, "InternalError", "BERTH_GATEWAY_FAILED"],
    [401, "Unauthorized", "BERTH_GATEWAY_FAILED"],
  ])("H17 is made of the API server's %i %s: %s", (status, reason, code) => {
    expect(problemOf(api(status, reason))).toMatchObject({
      code,
      status: errorCatalogue[code as "BERTH_NOT_FOUND"].status,
    });
  });

  it("H17 is the user's affair if a policy forbids it, and the gateway's if its own rights do", () => {
    const quota = known(api(403, "Forbidden", 'batchjobs "x" is forbidden: exceeded quota: few'));
    expect(quota).toMatchObject({
      code: "BERTH_FORBIDDEN",
      message: 'batchjobs "x" is forbidden: exceeded quota: few',
    });
    const own =
      'batchjobs is forbidden: User "system:serviceaccount:a:b" cannot create resource "batchjobs" in API group';
    const problem = problemOf(api(403, "Forbidden", own));
    expect(problem).toMatchObject({ code: "BERTH_GATEWAY_FAILED", status: 500, detail: "the gateway lacks a right" });
    expect(JSON.stringify(problem)).not.toContain("serviceaccount");
  });

  it("H2 says that an object is too large also when it is so for the database of the API server", () => {
    for (const message of [
      "etcdserver: request is too large",
      "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2500000 vs. 2097152)",
    ]) {
      expect(known(api(500, "", message))).toMatchObject({ code: "BERTH_BODY_TOO_LARGE" });
    }
  });

  it("H17 says to try again if the API server does not answer, and when", () => {
    expect(known(new KubeError("KUBE_CONNECTION_FAILED", "refused"))).toMatchObject({ code: "BERTH_UNAVAILABLE" });
    const late = new ApiError({ code: 429, reason: "TooManyRequests", message: "later" }, { retryAfter: 7 });
    expect(known(late).details).toEqual({ retryAfter: 7 });
  });

  it("H1 says nothing of errors that nobody has foreseen", () => {
    const problem = problemOf(new TypeError("secret is not a function"));
    expect(problem).toMatchObject({ code: "BERTH_GATEWAY_FAILED", detail: "something went wrong" });
    expect(problemOf("a text")).toMatchObject({ code: "BERTH_GATEWAY_FAILED" });
  });

  it("H1 names the fields, and not what the gateway has asked of whom", () => {
    const details = {
      causes: [
        { field: "<nil>", message: "wrong" },
        { field: "spec.a", message: "bad" },
      ],
    };
    const error = new ApiError(
      { code: 422, reason: "Invalid", message: "x is invalid: <nil>: wrong", details },
      { asked: "POST /a/b" },
    );
    expect(problemOf(error)).toMatchObject({
      detail: "x is invalid: wrong",
      errors: [
        { field: "", message: "wrong" },
        { field: "spec.a", message: "bad" },
      ],
    });
  });

  it("H1 can be told before there is anything to answer", () => {
    const [head, body = ""] = rawAnswer(new GatewayError("BERTH_REQUEST_TOO_SLOW", "ä")).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1.1 408 Request Timeout\r\nconnection: close/);
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({ code: "BERTH_REQUEST_TOO_SLOW", detail: "ä" });
  });
});
