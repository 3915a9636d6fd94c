/** Starts the operator on a cluster, with everything that it needs there. */
import {
  apiextensionsV1,
  type Client,
  type Clock,
  isNotFound,
  Manager,
  schedulingV1,
  silent,
  sleep,
  type Transport,
} from "@berth/kube";
import { resources } from "@berth/model";
import type { ApplicationAdapter } from "../../apps/application.ts";
import { job } from "../../apps/job.ts";
import { addOperator } from "../../operator.ts";
import { priorityClasses } from "../../priority-classes.ts";

/** Gives the function that ends it: in order, or in the middle of whatever it does. */
export async function operatorOn(transport: Transport, client: Client, clock: Clock): Promise<() => Promise<void>> {
  for (const resource of resources)
    await client.apply(apiextensionsV1.CustomResourceDefinition, resource.crd(), { force: true });
  for (const each of priorityClasses()) await client.apply(schedulingV1.PriorityClass, each, { force: true });
  const manager = new Manager({ transport, clock, log: silent, name: "berth-operator" });
  addOperator(manager, { adapters: [job as unknown as ApplicationAdapter] });
  const over = new AbortController();
  const running = manager.start({ signal: over.signal });
  return async () => {
    over.abort();
    await running;
  };
}

/** Waits until the definitions are served. */
export async function served(client: Client, clock: Clock): Promise<void> {
  for (const resource of resources) {
    for (;;) {
      try {
        await client.list(resource, { namespace: "default" });
        break;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        await sleep(clock, 50);
      }
    }
  }
}
