/** `berth watch`: a live view of slots and queue. */
import type { TargetFlags } from "../flags.ts";
import { asking } from "../target.ts";
import { live } from "../view/live.ts";

export async function watch(flags: TargetFlags, signal: AbortSignal): Promise<void> {
  await asking(flags, async ({ client }) => {
    const { token } = flags;
    await live({ url: client.url, signal, ...(token !== undefined && { token }) });
  });
}
