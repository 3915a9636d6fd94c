import { describe, expect, it } from "vitest";
import { GatewayError } from "../errors.ts";
import { TOPICS } from "../feed.ts";
import { type Frame, frame } from "./frame.ts";
import { Session, type Step } from "./session.ts";
import type { StompSubscription } from "./subscription.ts";

const BEATS = { sendEvery: 1000, expectEvery: 2000 };
type Headers = Readonly<Record<string, string>>;

function fresh(): Session {
  return new Session({ id: "s", beats: BEATS, maxSubscriptions: 3 });
}

function connected(headers: Headers = { "accept-version": "1.2" }): Session {
  const session = fresh();
  session.receive(frame("CONNECT", headers));
  session.authenticated("ann");
  return session;
}

/** Steps in few words: frames as `[command, headers]`, others as their type. */
function brief(steps: readonly Step[]): unknown[] {
  return steps.map((step) => {
    if (step.type === "send") return [step.frame.command, Object.fromEntries(step.frame.headers)];
    return step.type;
  });
}

function subscribed(session: Session, headers: Headers): StompSubscription {
  const [step] = session.receive(frame("SUBSCRIBE", { destination: "/topic/jobs", ...headers }));
  if (step?.type !== "subscribe") throw new Error(`it was ${JSON.stringify(brief(step ? [step] : []))}`);
  session.subscribed();
  return step.subscription;
}

function errorIn(steps: readonly Step[]): { headers: Headers; body: string; code: number } {
  const [error, close, ...others] = steps;
  if (error?.type !== "send" || error.frame.command !== "ERROR" || close?.type !== "close" || others.length > 0) {
    throw new Error(`not an ERROR and a close, but ${JSON.stringify(brief(steps))}`);
  }
  const { headers, body } = error.frame;
  return { headers: Object.fromEntries(headers), body: body.toString(), code: close.code };
}

const failure = (session: Session, received: Frame) => errorIn(session.receive(received));

describe("CONNECT", () => {
  it.each([
    ["1.0,1.1,1.2", "1.2"],
    ["1.2, 1.1, 1.0", "1.2"],
    ["1.1,1.0", "1.1"],
    ["1.3,1.0", "1.0"],
    [undefined, "1.0"],
  ])("S9 agrees on the highest version in common: of %s on %s", (offered, version) => {
    for (const command of ["CONNECT", "STOMP"]) {
      const session = fresh();
      expect(brief(session.receive(frame(command, offered ? { "accept-version": offered } : {})))).toEqual([
        "authenticate",
      ]);
      const [answer] = session.authenticated("system:serviceaccount:a:b");
      const heartBeat = version === "1.0" ? {} : { "heart-beat": "1000,2000" };
      expect(brief(answer ? [answer] : [])).toEqual([
        [
          "CONNECTED",
          { version, session: "s", server: "berth", "user-name": "system:serviceaccount:a:b", ...heartBeat },
        ],
      ]);
      expect(session.version).toBe(version);
    }
  });

  it("S9 is told which versions there are if none is in common", () => {
    const { headers } = failure(fresh(), frame("CONNECT", { "accept-version": "1.3,2.0" }));
    expect(headers).toMatchObject({ version: "1.0,1.1,1.2", code: "BERTH_BODY_INVALID" });
  });

  it("S10 comes first, and comes once", () => {
    for (const command of ["SUBSCRIBE", "SEND", "DISCONNECT", "CONNECTED", "NONSENSE"]) {
      expect(failure(fresh(), frame(command, {})).headers.message).toMatch(/first frame must be CONNECT/);
    }
    for (const command of ["CONNECT", "STOMP"]) {
      expect(failure(connected(), frame(command, {})).headers.message).toMatch(/once/);
    }
  });

  it("S11 agrees on heart-beats", () => {
    const session = fresh();
    session.receive(frame("CONNECT", { "accept-version": "1.2", "heart-beat": "500,3000" }));
    expect(session.authenticated("ann")[1]).toEqual({ type: "beat", beats: { sendEvery: 3000, expectEvery: 2000 } });
  });

  it.each(["", "1", "1,", "1,2,3", "-1,1", "a,b", "1.5,1", "99999999999,0"])(
    "S11 is refused with heart-beats that are not two numbers: %j",
    (text) => {
      const { headers } = failure(fresh(), frame("CONNECT", { "accept-version": "1.2", "heart-beat": text }));
      expect(headers.message).toMatch(/heart-beat/);
    },
  );

  it.each<[Headers, string | undefined]>([
    [{ Authorization: "Bearer abc" }, "abc"],
    [{ authorization: "bearer abc", passcode: "xyz" }, "abc"],
    [{ Authorization: "Basic abc", passcode: "xyz" }, "xyz"],
    [{ passcode: "xyz" }, "xyz"],
    [{ passcode: "" }, undefined],
    [{}, undefined],
  ])("S27 brings the token along: %j", (headers, token) => {
    const steps = fresh().receive(frame("CONNECT", { "accept-version": "1.2", ...headers }));
    expect(steps).toEqual([{ type: "authenticate", token }]);
  });
});

describe("SUBSCRIBE", () => {
  it.each(TOPICS)("S12 takes /topic/%s, with and without a snapshot", (topic) => {
    const [plain] = connected().receive(frame("SUBSCRIBE", { id: "1", destination: `/topic/${topic}` }));
    expect(plain).toMatchObject({ type: "subscribe", snapshot: false, subscription: { topic, ack: "auto" } });
    const headers = { id: "1", destination: `/topic/${topic}`, snapshot: "true", ack: "client" };
    const [full] = connected().receive(frame("SUBSCRIBE", headers));
    expect(full).toMatchObject({ type: "subscribe", snapshot: true, subscription: { topic, ack: "client" } });
  });

  it.each<[Headers, RegExp]>([
    [{ destination: "/topic/jobs" }, /header id/],
    [{ id: "1" }, /header destination/],
    [{ id: "1", destination: "/topic/secrets" }, /\/topic\/jobs, \/topic\/schedulings/],
    [{ id: "1", destination: "/queue/jobs" }, /destinations are/],
    [{ id: "1", destination: "/topic/jobs", ack: "maybe" }, /ack must be/],
    [{ id: "1", destination: "/topic/jobs", snapshot: "yes" }, /snapshot must be/],
  ])("S12 is refused as %j", (headers, message) => {
    expect(failure(connected(), frame("SUBSCRIBE", headers)).headers.message).toMatch(message);
  });

  it("S12 has an id that no other has, which can be used again after UNSUBSCRIBE", () => {
    const session = connected();
    subscribed(session, { id: "a" });
    session.receive(frame("UNSUBSCRIBE", { id: "a" }));
    subscribed(session, { id: "a" });
    expect(failure(session, frame("SUBSCRIBE", { id: "a", destination: "/topic/slots" })).headers.message).toMatch(
      /already/,
    );
  });

  it("S12 needs no id in version 1.0", () => {
    const session = connected({});
    const subscription = subscribed(session, {});
    expect(subscription.id).toBe("/topic/jobs");
    expect(brief(session.receive(frame("UNSUBSCRIBE", { destination: "/topic/jobs", receipt: "r" })))).toEqual([
      "unsubscribe",
      ["RECEIPT", { "receipt-id": "r" }],
    ]);
  });

  it("S13 is undone by UNSUBSCRIBE with its id, and only with that", () => {
    const session = connected();
    const subscription = subscribed(session, { id: "a" });
    expect(session.receive(frame("UNSUBSCRIBE", { id: "a" }))).toEqual([{ type: "unsubscribe", subscription }]);
    expect(failure(session, frame("UNSUBSCRIBE", { id: "a" })).headers.message).toMatch(/no subscription/);
    expect(failure(connected(), frame("UNSUBSCRIBE", { destination: "/topic/jobs" })).headers.message).toMatch(/id/);
  });

  it("S30 is refused when there are too many", () => {
    const session = connected();
    for (const id of ["a", "b", "c"]) subscribed(session, { id });
    const { headers, code } = failure(session, frame("SUBSCRIBE", { id: "d", destination: "/topic/jobs" }));
    expect(headers).toMatchObject({ code: "BERTH_TOO_MANY_REQUESTS", message: expect.stringContaining("3") });
    expect(code).toBe(1008);
  });
});

describe("ACK and NACK", () => {
  const body = Buffer.from("{}");

  it.each(["ACK", "NACK"])("S14 of one message: %s is for all before it in mode client", (command) => {
    const session = connected();
    const mine = subscribed(session, { id: "a", ack: "client" });
    const other = subscribed(session, { id: "b", ack: "client" });
    for (const each of [mine, other, mine, mine]) session.message(each, body);
    expect(session.receive(frame(command, { id: "s-3" }))).toEqual([]);
    expect([mine.unacknowledged, other.unacknowledged]).toEqual([1, 1]);
  });

  it.each(["ACK", "NACK"])("S14 of one message: %s is for it alone in mode client-individual", (command) => {
    const session = connected();
    const mine = subscribed(session, { id: "a", ack: "client-individual" });
    for (let count = 0; count < 3; count++) session.message(mine, body);
    session.receive(frame(command, { id: "s-2" }));
    expect(mine.unacknowledged).toBe(2);
    // Once more, or after the subscription has gone, it changes nothing; a receipt comes all the same.
    expect(brief(session.receive(frame(command, { id: "s-2", receipt: "r" })))).toEqual([
      ["RECEIPT", { "receipt-id": "r" }],
    ]);
    session.receive(frame("UNSUBSCRIBE", { id: "a" }));
    expect(session.receive(frame(command, { id: "s-3" }))).toEqual([]);
  });

  it.each(["s-4", "s-0", "s-01", "t-1", "1", "", "s-", "s-1e0"])(
    "S14 of a message that never was is an error: %j",
    (id) => {
      const session = connected();
      const mine = subscribed(session, { id: "a", ack: "client" });
      for (let count = 0; count < 3; count++) session.message(mine, body);
      expect(failure(session, frame("ACK", { id })).headers.message).toMatch(/no message/);
    },
  );

  it("S14 names it by message-id before version 1.2", () => {
    const session = connected({ "accept-version": "1.1" });
    const mine = subscribed(session, { id: "a", ack: "client" });
    session.message(mine, body);
    session.receive(frame("ACK", { "message-id": "s-1", subscription: "a" }));
    expect(mine.unacknowledged).toBe(0);
    expect(failure(connected(), frame("ACK", { "message-id": "s-1" })).headers.message).toMatch(/header id/);
  });

  it("S14 nothing is remembered of messages that need none", () => {
    const session = connected();
    const mine = subscribed(session, { id: "a" });
    session.message(mine, body);
    expect(mine.unacknowledged).toBe(0);
  });
});

describe("other frames", () => {
  it.each(["BEGIN", "COMMIT", "ABORT"])("S15 %s is refused: there are no transactions", (command) => {
    const { headers } = failure(connected(), frame(command, { transaction: "t" }));
    expect(headers.message).toMatch(/^transactions are not supported/);
  });

  it("S15 ACK in a transaction is refused too", () => {
    const { headers } = failure(connected(), frame("ACK", { id: "s-1", transaction: "t" }));
    expect(headers.message).toMatch(/^transactions are not supported/);
  });

  it("S16 SUBSCRIBE is confirmed when it has been done, and not before", () => {
    const session = connected();
    const asked = frame("SUBSCRIBE", { id: "1", destination: "/topic/jobs", receipt: "r\n1" });
    expect(brief(session.receive(asked))).toEqual(["subscribe"]);
    expect(brief(session.subscribed())).toEqual([["RECEIPT", { "receipt-id": "r\n1" }]]);
  });

  it("S16 CONNECT has no receipt, even if it fails", () => {
    const session = fresh();
    const headers = { "accept-version": "1.2", receipt: "r" };
    expect(brief(session.receive(frame("CONNECT", headers)))).toEqual(["authenticate"]);
    expect(brief(session.authenticated("ann")).flat()).not.toContain("RECEIPT");
    expect(failure(fresh(), frame("CONNECT", { ...headers, "accept-version": "3" })).headers).not.toHaveProperty(
      "receipt-id",
    );
  });

  it("S16 an ERROR names the frame that it is about", () => {
    expect(failure(connected(), frame("SEND", { destination: "/topic/jobs", receipt: "r" })).headers).toMatchObject({
      "receipt-id": "r",
    });
    const session = connected();
    session.receive(frame("SUBSCRIBE", { id: "1", destination: "/topic/jobs", receipt: "q" }));
    const { headers, code } = errorIn(session.failed(new GatewayError("BERTH_FORBIDDEN", "no")));
    expect(headers).toMatchObject({ "receipt-id": "q", code: "BERTH_FORBIDDEN" });
    expect(code).toBe(1008);
  });

  it("S17 DISCONNECT is confirmed, and then it is over", () => {
    const session = connected();
    expect(brief(session.receive(frame("DISCONNECT", { receipt: "bye" })))).toEqual([
      ["RECEIPT", { "receipt-id": "bye" }],
      "close",
    ]);
    expect(session.ended).toBe(true);
    expect(session.receive(frame("SUBSCRIBE", { id: "1", destination: "/topic/jobs" }))).toEqual([]);
    expect(connected().receive(frame("DISCONNECT", {}))).toEqual([{ type: "close", code: 1000 }]);
  });

  it("S18 nothing is said after an ERROR, whatever comes", () => {
    const session = connected();
    const { headers, body, code } = failure(session, frame("HELLO", {}));
    expect(headers).toEqual({
      message: "the command is none that a client of STOMP sends",
      code: "BERTH_BODY_INVALID",
      "content-type": "text/plain",
    });
    expect(body).toMatch(/^the command is none .*\n.+\n$/);
    expect(code).toBe(1002);
    expect(session.receive(frame("DISCONNECT", { receipt: "r" }))).toEqual([]);
    expect(session.failed(new GatewayError("BERTH_GATEWAY_FAILED", "again"))).toEqual([]);
    expect([session.authenticated("ann"), session.subscribed()]).toEqual([[], []]);
  });

  it("S19 SEND is refused: topics are read only", () => {
    const { headers } = failure(connected(), frame("SEND", { destination: "/topic/jobs" }, Buffer.from("hello")));
    expect(headers).toMatchObject({ code: "BERTH_METHOD_NOT_ALLOWED", message: expect.stringContaining("read only") });
  });

  it.each(["SUBSCRIBE", "ACK", "DISCONNECT", "UNSUBSCRIBE"])("S20 %s may not have a body", (command) => {
    const { headers } = failure(connected(), frame(command, {}, Buffer.from("x")));
    expect(headers.message).toBe(`a ${command} may not have a body`);
  });
});
