/** From which web pages a connection may come: a browser sends anybody's page along with the user's cookies and network. */
import type { IncomingHttpHeaders } from "node:http";

/** Whether the request comes from no web page, from one of the same host, or from one that is allowed. */
export function isAllowedOrigin(headers: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  // Very old browsers call it otherwise; the WebSocket server still answers them.
  const given = headers.origin ?? headers["sec-websocket-origin"];
  if (given === undefined) return true;
  if (typeof given !== "string") return false;
  if (allowed.includes(given)) return true;
  const origin = URL.parse(given);
  if (!origin || origin.host === "") return false; // "null": a sandbox, or a file
  if (allowed.some((each) => URL.parse(each)?.origin === origin.origin)) return true;
  // With the same scheme, so that the port that goes without saying is the same.
  return URL.parse(`${origin.protocol}//${headers.host ?? ""}`)?.host === origin.host;
}
