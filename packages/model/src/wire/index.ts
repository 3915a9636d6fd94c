/** What the gateway says and understands, for everybody who talks to it. */
export * from "./turn.ts";
export * from "./views.ts";
