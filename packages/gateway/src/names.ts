/** What the gateway writes on objects. */

/** On Schedulings: whose turn they were made in, and which. */
export const label = {
  scheduler: "berth.dev/scheduler",
  turn: "berth.dev/turn",
} as const;

export const annotation = {
  /** On jobs: when they were put into the queue, to the microsecond. Kubernetes counts in seconds. */
  submitted: "berth.dev/submitted",
  /** On jobs that have ended: the number of the run after which they are to run again. */
  rerunAfter: "berth.dev/rerun-after",
  /** On Schedulings: what was decided, to recognise a turn that is sent again, and what of it was rejected. */
  decisions: "berth.dev/decisions",
  rejected: "berth.dev/rejected",
  /** On the lease of a testbed: the last turn, and the gateway that has given it. */
  turn: "berth.dev/turn",
  gateway: "berth.dev/gateway",
} as const;
