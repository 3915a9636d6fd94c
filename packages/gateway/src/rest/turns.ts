/** REST: turns. */
import { type TurnRequest, turnReply, turnRequest } from "@berth/model";
import { z } from "zod";
import type { Route } from "../http/route.ts";
import type { Turns } from "../turn/turns.ts";

/** No dots, so that the names of Schedulings can be told apart. */
const schedulerParams = z.object({
  name: z
    .string()
    .min(1)
    .max(40)
    .regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
      "must be lower case letters, digits and '-', with a letter or digit at both ends",
    )
    .describe("The scheduler's own name: one process at a time goes by it."),
});

const RIGHTS = [
  { verb: "create", resource: "schedulings" },
  { verb: "update", resource: "schedulings" },
  { verb: "list", resource: "batchjobs" },
  { verb: "list", resource: "slots" },
];

/** One endpoint for schedulers, and one to end. */
export function turnRoutes(turns: Turns): Route[] {
  const tag = "schedulers";
  return [
    {
      ...{ method: "POST", path: "/v1/schedulers/{name}/turn", tag, summary: "Decide, and wait for the next turn" },
      description:
        "A scheduler sends its decisions about the last turn and gets the next one, as soon as there is something to decide. The first call has no `after` and is answered at once. The same call, sent again, is answered the same.",
      ...{ params: schedulerParams, body: turnRequest },
      bodyExample: { testbed: "main", after: 17, decisions: [{ job: "pi", slots: [0, 3], reason: "longest wait" }] },
      answer: { status: 200, description: "The next turn.", schema: turnReply },
      errors: [404, 409],
      rights: RIGHTS,
      handle: async ({ params, body, signal }) => ({
        body: await turns.turn(params.name ?? "", body as TurnRequest, signal),
      }),
    },
    {
      ...{ method: "DELETE", path: "/v1/schedulers/{name}", tag, summary: "End a scheduler" },
      description: "Gives a testbed back, so that another scheduler can have it at once. What runs goes on.",
      params: schedulerParams,
      query: z.strictObject({ testbed: z.string().min(1).max(40) }),
      answer: { status: 204, description: "Another one may have it." },
      rights: RIGHTS,
      handle: async ({ params, query }) => {
        await turns.end(params.name ?? "", String(query.testbed));
        return {};
      },
    },
  ];
}
