/** The description for programs and for people. */
import { VirtualClock } from "@berth/kube";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Embedded, jobManifest, startEmbedded } from "../testing/embedded.ts";

interface Operation {
  operationId: string;
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

let world: Embedded;
let document: {
  openapi: string;
  info: object;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
beforeAll(async () => {
  world = await startEmbedded({ clock: new VirtualClock() });
  document = (await world.ask("GET", "/openapi.json")).body;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
const ajv = new Ajv2020({ strict: false, validateFormats: false });

describe("the description", () => {
  it("R18 is OpenAPI 3.1 by its structure: all that has to be there is, and schemas are JSON Schema", () => {
    expect(document).toMatchObject({ openapi: "3.1.0", info: { title: "Berth", version: expect.any(String) } });
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, method, operation } of operations()) {
      const where = `${method} ${path}`;
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = operation.parameters.filter((each) => each.in === "path");
      expect(
        declared.map(({ name }) => name),
        where,
      ).toEqual(inPath);
      expect(
        declared.every(({ required }) => required),
        where,
      ).toBe(true);
      const keys = operation.parameters.map((each) => `${each.in} ${each.name}`);
      expect(new Set(keys).size, where).toBe(keys.length);
      expect(
        Object.keys(operation.responses).some((status) => status.startsWith("2")),
        where,
      ).toBe(true);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description, `${where} ${status}`).toMatch(/./);
      }
    }
  });

  it("R18 has schemas that are valid, and examples that are valid by them", () => {
    for (const { path, method, operation } of operations()) {
      const responses = Object.values(operation.responses).flatMap(({ content = {} }) => Object.values(content));
      const schemas = [...responses, ...operation.parameters, ...Object.values(operation.requestBody?.content ?? {})];
      for (const { schema } of schemas) {
        if ("$ref" in schema) expect(schema.$ref).toBe("#/components/schemas/Problem");
        else expect(ajv.validateSchema(schema), `${method} ${path}: ${ajv.errorsText()}`).toBe(true);
      }
      for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
        expect(example, `${method} ${path}`).toBeDefined();
        expect(ajv.validate(schema, example), `${method} ${path}: ${ajv.errorsText()}`).toBe(true);
      }
    }
    expect(ajv.validateSchema(document.components.schemas.Problem as object)).toBe(true);
  });

  it("R18 has everything that the server answers to, and nothing else", async () => {
    expect(
      operations()
        .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
        .sort(),
    ).toEqual([
      "DELETE /v1/jobs/{name}",
      "DELETE /v1/schedulers/{name}",
      "DELETE /v1/schedulings/{name}",
      "GET /v1/events",
      "GET /v1/jobs",
      "GET /v1/jobs/{name}",
      "GET /v1/jobs/{name}/explain",
      "GET /v1/jobs/{name}/manifest",
      "GET /v1/jobs/{name}/runs",
      "GET /v1/nodes",
      "GET /v1/nodes/{name}",
      "GET /v1/schedulings",
      "GET /v1/schedulings/{name}",
      "GET /v1/testbeds",
      "GET /v1/testbeds/{name}",
      "GET /v1/testbeds/{name}/slots",
      "GET /v1/time",
      "PATCH /v1/jobs/{name}/data",
      "PATCH /v1/schedulings/{name}",
      "POST /v1/jobs",
      "POST /v1/jobs/{name}/release",
      "POST /v1/jobs/{name}/retry",
      "POST /v1/schedulers/{name}/turn",
      "POST /v1/schedulings",
      "PUT /v1/schedulings/{name}",
    ]);
    for (const path of Object.keys(document.paths)) {
      const { status, headers } = await world.ask("OPTIONS", path.replaceAll(/\{\w+\}/g, "x"));
      const allowed = (headers.get("allow") ?? "").split(", ").filter((method) => method !== "HEAD");
      expect([status, allowed.sort()], path).toEqual([
        405,
        Object.keys(document.paths[path] ?? {})
          .map((method) => method.toUpperCase())
          .sort(),
      ]);
    }
  });

  it("R18 is true of what is answered", async () => {
    await world.ask("POST", "/v1/jobs", jobManifest("pi", 1));
    const spec = { testbed: { name: "main" }, slotBased: [{ name: "pi", slots: [0, 1] }] };
    await world.ask("POST", "/v1/schedulings", { metadata: { name: "one" }, spec });
    const names = { jobs: "pi", schedulings: "one", testbeds: "main", nodes: "n0" };
    let count = 0;
    for (const { path, method, operation } of operations()) {
      if (method !== "get" || path === "/v1/events") continue;
      const [, , kind = ""] = path.split("/");
      const { status, body } = await world.ask("GET", path.replace("{name}", names[kind as "jobs"]));
      expect(status, path).toBe(200);
      const schema = operation.responses["200"]?.content?.["application/json"]?.schema ?? {};
      expect(ajv.validate(schema, body), `${path}: ${ajv.errorsText()}`).toBe(true);
      count++;
    }
    expect(count).toBe(13);
    const { body: problem } = await world.ask("GET", "/v1/jobs/nobody");
    expect(ajv.validate(document.components.schemas.Problem as object, problem), ajv.errorsText()).toBe(true);
  });
});

describe("the page", () => {
  it("R19 shows everything, and runs nothing", async () => {
    const { status, headers, body } = await world.ask("GET", "/docs");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    expect(body).not.toMatch(/<script|javascript:| on\w+=/i);
    for (const path of Object.keys(document.paths)) expect(body).toContain(`<code>${path}</code>`);
  });
});
