/** The gateway's description for programs: OpenAPI 3.1, made from the schemas that requests are validated with. */
import { z } from "zod";
import { errorCatalogue } from "../errors.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import { PROBLEM_TYPE } from "./problem.ts";
import type { Route } from "./route.ts";

const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(Object.keys(errorCatalogue) as [string, ...string[]]),
  remedy: z.string(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
});

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  304: "It has not changed.",
  400: "The request is not what it should be.",
  401: "Nobody knows who asks.",
  403: "That is not allowed.",
  404: "There is no such thing.",
  405: "That cannot be done with it.",
  409: "It cannot be done as things are.",
  412: "It was changed meanwhile.",
  408: "The request took too long to arrive.",
  413: "The request is too large.",
  415: "The type of the body is not known.",
  422: "The manifest is not valid.",
  429: "Too many requests, or streams.",
  431: "The headers are too many or too large.",
  500: "The gateway has failed.",
  503: "Not now.",
};

/** What any request may be answered. */
const ANYWHERE = [400, 401, 403, 408, 429, 431, 500, 503];
/** And one with a body. */
const WITH_BODY = [413, 415];

/** The whole document. */
export function openApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Berth",
      version,
      description:
        "The interface for external schedulers and people. Times are in seconds, names are without namespaces.",
    },
    paths,
    components: {
      schemas: { Problem: jsonSchemaOf(problem) },
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "A Kubernetes token." } },
    },
    security: [{}, { token: [] }],
  };
}

function operation(route: Route): object {
  const { tag, summary, description, answer, errors = [] } = route;
  const failures = [...new Set([...ANYWHERE, ...(route.body ? WITH_BODY : []), ...errors])].sort();
  const schema = answer.schema ? jsonSchemaOf(answer.schema) : { type: "string" };
  const content = (answer.schema || answer.type) && { [answer.type ?? "application/json"]: { schema } };
  const headers = answer.tagged && { headers: { ETag: { schema: { type: "string" }, description: ETAG } } };
  return {
    operationId: idOf(route),
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    parameters: parametersOf(route),
    ...(route.body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          (route.bodyTypes ?? ["application/json"]).map((type) => [
            type,
            {
              schema: jsonSchemaOf(route.body as z.ZodType),
              ...(route.bodyExample !== undefined && { example: route.bodyExample }),
            },
          ]),
        ),
      },
    }),
    responses: {
      [answer.status]: { description: answer.description, ...headers, ...(content && { content }) },
      ...(isOne(route) && { 304: { description: DESCRIPTIONS[304] } }),
      ...Object.fromEntries(
        failures.map((status) => [
          status,
          {
            description: DESCRIPTIONS[status] ?? "An error.",
            content: { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } },
          },
        ]),
      ),
    },
  };
}

const ETAG = "Changes whenever it does.";

/** Whether somebody may say that he has it already. */
function isOne({ method, answer }: Route): boolean {
  return method === "GET" && answer.tagged === true;
}

function parametersOf(route: Route): object[] {
  const { params, query, conditional } = route;
  return [
    ...fieldsOf(params).map(([name, schema]) => ({ name, in: "path", required: true, ...described(schema) })),
    ...fieldsOf(query).map(([name, schema, isRequired]) => ({
      ...{ name, in: "query", required: isRequired },
      ...described(schema),
    })),
    ...(conditional
      ? [
          {
            ...{ name: "If-Match", in: "header", required: false, schema: { type: "string" } },
            description: "An ETag: only if it is still so. Default: whatever it is now.",
          },
        ]
      : []),
    ...(isOne(route)
      ? [
          {
            ...{ name: "If-None-Match", in: "header", required: false, schema: { type: "string" } },
            description: "An ETag: answer 304, without a body, if it is still so.",
          },
        ]
      : []),
  ];
}

function fieldsOf(schema: z.ZodObject | undefined): [string, Record<string, unknown>, boolean][] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(schema) as {
    properties?: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, each]) => [name, each, required.includes(name)]);
}

function described({ description, ...schema }: Record<string, unknown>): object {
  return { schema, ...(description !== undefined && { description }) };
}

/** "GET /v1/jobs/{name}/runs" is getJobsOneRuns. */
function idOf({ method, path }: Route): string {
  const words = path.split("/").slice(2);
  const named = words.map((word) => (word.startsWith("{") ? "One" : word.charAt(0).toUpperCase() + word.slice(1)));
  return method.toLowerCase() + named.join("");
}
