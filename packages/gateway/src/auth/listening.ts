/** Who may listen to changes: that is asked when he begins, and again for as long as he listens, for tokens and rights come to an end. */
import type { Clock, Timer } from "@berth/kube";
import { GatewayError } from "../errors.ts";
import type { Topic } from "../feed.ts";
import type { Right } from "../http/route.ts";
import { lacking, type User } from "./guard.ts";

const RESOURCES: Readonly<Record<Topic, string>> = {
  jobs: "batchjobs",
  schedulings: "schedulings",
  testbeds: "testbeds",
  slots: "slots",
};

const ASK_EVERY_MS = 15_000;

/** Rejects with BERTH_FORBIDDEN, and the right that is missing, unless he may listen to all of them. */
export async function mustSee(
  user: User,
  topics: Iterable<Topic>,
  may: (right: Right) => Promise<boolean>,
): Promise<void> {
  for (const topic of topics) {
    const right = { verb: "watch", resource: RESOURCES[topic] };
    if (!(await may(right))) throw lacking(user, right);
  }
}

/**
 * Asks again and again, until he may not listen any more or it is called off.
 *
 * @param ask - As `mustSee` says it. If it cannot be found out, what was true before holds.
 */
export function whileAllowed(clock: Clock, ask: () => Promise<void>, onEnd: (why: GatewayError) => void): Timer {
  let isOver = false;
  let timer: Timer;
  const wait = () => {
    if (!isOver) timer = clock.setTimer(ASK_EVERY_MS, () => void ask().then(wait, answered));
  };
  const answered = (error: unknown) => {
    if (isOver) return;
    if (!(error instanceof GatewayError) || !FINAL.has(error.code)) return wait();
    isOver = true;
    onEnd(error);
  };
  wait();
  return {
    cancel: () => {
      isOver = true;
      timer.cancel();
    },
  };
}

const FINAL: ReadonlySet<string> = new Set(["BERTH_UNAUTHENTICATED", "BERTH_FORBIDDEN"]);
