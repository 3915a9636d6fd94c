/** Where files may lie, worded as the API server words it. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";

export function checkNoBacksteps(path: string, field: string, errors: FieldErrors): void {
  if (path.includes("..") && path.split("/").includes("..")) errors.invalid(field, path, "must not contain '..'");
}

/** A path below some folder. */
export function checkDescendingPath(path: string, field: string, errors: FieldErrors): void {
  if (path.startsWith("/")) errors.invalid(field, path, "must be a relative path");
  checkNoBacksteps(path, field, errors);
}

/** The same, for files that are written beside the server's own, which begin with "..". */
export function checkLocalPath(path: string, field: string, errors: FieldErrors): void {
  checkDescendingPath(path, field, errors);
  if (path.startsWith("..") && !path.startsWith("../")) errors.invalid(field, path, "must not start with '..'");
}

/** The permissions of a file. */
export function checkMode(mode: number | undefined, field: string, errors: FieldErrors): void {
  if (mode !== undefined && (mode > 0o777 || mode < 0)) {
    errors.invalid(field, mode, "must be a number between 0 and 0777 (octal), both inclusive");
  }
}
