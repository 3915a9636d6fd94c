/** One thing that can be asked of the gateway: what the server validates with, and what the documentation is made from. */
import type { ServerResponse } from "node:http";
import { z } from "zod";
import type { User } from "../auth/guard.ts";
import { GatewayError } from "../errors.ts";
import { jsonSchemaOf } from "./json-schema.ts";

/** A right in the words of RBAC, on resources of berth.dev unless another group is named. */
export interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly group?: string;
  /** Only for the object that the path names; else for all of them. */
  readonly named?: true;
  /** Of a kind that is in no namespace. */
  readonly clusterWide?: true;
}

/** A request whose parts are what their schemas say. */
export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly user: User;
  /** Whether the user may do something more. Rejects with BERTH_UNAUTHENTICATED if the token is not good any more by then. */
  may(right: Right): Promise<boolean>;
  /** Aborted when whoever asks has gone. */
  readonly signal: AbortSignal;
}

/** What a request is answered. */
export interface Answered {
  /** Default: that of the route. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Instead of a body: writes the whole answer, for as long as it likes. */
  readonly stream?: (response: ServerResponse) => void;
}

/** One thing that can be asked of the gateway. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As OpenAPI writes it: "/v1/jobs/{name}". */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Which types of bodies there may be. Default: application/json. */
  readonly bodyTypes?: readonly string[];
  readonly bodyExample?: unknown;
  /** Whether an If-Match header is taken into account. */
  readonly conditional?: boolean;
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly schema?: z.ZodType;
    /** Default: application/json. */
    readonly type?: string;
    /** Whether it has an ETag. */
    readonly tagged?: boolean;
  };
  /** Other outcomes that callers should know of. */
  readonly errors?: readonly number[];
  /** What the user must have. */
  readonly rights: readonly Right[];
  handle(asked: Asked): Promise<Answered>;
}

/** What may be asked for where nothing can be chosen: who believes that something can is told so. */
const NO_QUERY = z.strictObject({});

/** The parameters of a request, after the "?". */
export function queryOf({ query = NO_QUERY }: Route, given: unknown): Asked["query"] {
  return validated(query, unquoted(query, given as Asked["query"]), "query") as Asked["query"];
}

/** Checks one part of a request against its schema. */
export function validated<T>(schema: z.ZodType<T> | undefined, value: unknown, where: string): T {
  if (!schema) return value as T;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 20).map(({ path, message }) => ({
    field: [where, ...path.map(String)].join("."),
    message,
  }));
  const [first] = errors;
  throw new GatewayError("BERTH_BODY_INVALID", `${first?.field}: ${first?.message}`, { details: { errors } });
}

/** Parameters come as texts; numbers and truths among them are made so, by what the schema says. */
export function unquoted(schema: z.ZodObject, query: Readonly<Record<string, unknown>>): unknown {
  const { properties = {} } = jsonSchemaOf(schema) as {
    properties?: Record<string, { type?: string }>;
  };
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
      if (typeof value !== "string") return [name, value];
      if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(value)) return [name, Number(value)];
      if (type === "boolean" && (value === "true" || value === "false")) return [name, value === "true"];
      return [name, value];
    }),
  );
}
