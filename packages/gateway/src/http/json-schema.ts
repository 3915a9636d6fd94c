/** JSON Schema from the schemas that the server validates with. */
import { z } from "zod";

const made = new WeakMap<z.ZodType, object>();

/** As OpenAPI 3.1 has it. */
export function jsonSchemaOf(schema: z.ZodType): object {
  let found = made.get(schema);
  if (!found) {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", reused: "inline", unrepresentable: "any" });
    found = rest;
    made.set(schema, found);
  }
  return found;
}
