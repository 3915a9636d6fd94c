/**
 * Which web pages may use the gateway: browsers send requests for any page, and say for which. Pure.
 *
 * Two things are kept out. A page of another site, whose requests a browser sends from the machine of whoever looks at it. And a
 * page that has its own name point to this machine (DNS rebinding): for the browser it is at home then, but the Host header tells.
 */
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError } from "../errors.ts";

export interface Admission {
  /** Origins of pages that may use it, besides its own. */
  readonly allowedOrigins: readonly string[];
  /** Whether anybody may do anything: then only those on this machine are let in. */
  readonly isOpen: boolean;
}

/** Why a request is not let in, whoever sends it; `undefined` if it is. */
export function refusalOf(headers: IncomingHttpHeaders, { allowedOrigins, isOpen }: Admission): string | undefined {
  const foreign = foreignOrigin(headers, allowedOrigins);
  if (foreign !== undefined) return `web pages of ${foreign.slice(0, 200)} may not use this gateway`;
  if (isForPage(headers)) return "web pages of other sites may not use this gateway";
  if (isOpen && !isLoopback(hostnameOf(headers.host))) {
    return "a gateway without authentication is only for this machine: ask for localhost";
  }
  return undefined;
}

/** The origin of a page that may not; `undefined` if it may, or if it is no page. */
export function foreignOrigin(headers: IncomingHttpHeaders, allowed: readonly string[]): string | undefined {
  const origin = originOf(headers);
  if (origin === undefined || allowed.includes(origin)) return undefined;
  // "null" has none: that is what a page says that does not want to be known.
  const own = URL.parse(origin)?.host;
  return own !== undefined && own !== "" && own === headers.host?.toLowerCase() ? undefined : origin;
}

/** Of the page that asks. Very old browsers call it otherwise when they open a WebSocket, and are answered there. */
function originOf({ origin, "sec-websocket-origin": old }: IncomingHttpHeaders): string | undefined {
  return origin ?? old?.toString();
}

/** Images and scripts are asked for without an origin; browsers of today say from where all the same. Who follows a link is a person. */
function isForPage(headers: IncomingHttpHeaders): boolean {
  const { "sec-fetch-site": site, "sec-fetch-mode": mode } = headers;
  return originOf(headers) === undefined && (site === "cross-site" || site === "same-site") && mode !== "navigate";
}

/** As browsers send them, or they would never be recognised; "*" would be everybody. */
export function mustBeOrigins(texts: readonly string[]): void {
  for (const text of texts) {
    if (URL.parse(text)?.origin === text) continue;
    const message = `allowedOrigins: ${JSON.stringify(text)} is no origin; one is like https://example.org:8080`;
    throw new GatewayError("BERTH_GATEWAY_OPTION_INVALID", message);
  }
}

/** Of a Host header, without the port. */
export function hostnameOf(host = ""): string {
  return /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host.trim().toLowerCase())?.[1] ?? "";
}

/** Whether a name means this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}
