/** Which web pages may use the gateway: browsers send requests for any page, and say for which. Pure. */
import type { IncomingHttpHeaders } from "node:http";

/** The origin of a page that may not; `undefined` if it may, or if it is no page. */
export function foreignOrigin(headers: IncomingHttpHeaders, allowed: readonly string[]): string | undefined {
  const { origin, host } = headers;
  if (origin === undefined || allowed.includes(origin)) return undefined;
  try {
    if (new URL(origin).host === host) return undefined;
  } catch {
    // "null", which is what a page says that does not want to be known
  }
  return origin;
}

/** Whether a name means this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}
