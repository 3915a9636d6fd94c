/** What the real server says is wrong with a custom resource. */
import { FieldErrors } from "../api/field-errors.ts";

/** One thing that is wrong. */
export type Cause = FieldErrors["causes"][number];

function one(say: (errors: FieldErrors) => void): Cause {
  const errors = new FieldErrors();
  say(errors);
  return errors.causes[0] as Cause;
}

/** In the words of its validator for OpenAPI, which says where it is in the text as well. */
export const causes = {
  invalid: (path: string, value: unknown, why: string) =>
    one((errors) => errors.invalid(path, value, `${path} in body ${why}`)),
  required: (path: string) => one((errors) => errors.required(path)),
  tooLong: (path: string, limit: number) => one((errors) => errors.tooLong(path, limit)),
  tooMany: (path: string, count: number, limit: number) => one((errors) => errors.tooMany(path, count, limit)),
  /** @param is - What it is instead, in quotes. */
  type: (path: string, wanted: string, is: string) =>
    one((errors) => errors.typeInvalid(path, is, `${path} in body must be of type ${wanted}: ${JSON.stringify(is)}`)),
  unsupported: (path: string, value: unknown, supported: readonly unknown[]) => {
    const texts = supported.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
    return one((errors) => errors.notSupported(path, value, texts));
  },
  badFactor: (path: string, factor: number) =>
    one((errors) => errors.invalid(path, factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`)),
  /** What belongs to no field. */
  unplaced: (why: string) => one((errors) => errors.invalid("<nil>", "", why)),
};
