/** Our own side of the comparison: the operator of `../peers` on @berth/kube. */
import { coreV1, type KubernetesObject, kindOf, loadConnection, Manager, silent, withController } from "@berth/kube";
import { workplace } from "../widget.ts";

interface Widget extends KubernetesObject {
  spec: { image: string };
}

const { group, namespace } = workplace("ours");
const Widget = kindOf<Widget>(`${group}/v1`, "Widget", "widgets");

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const manager = new Manager({ connection: loadConnection(), cache: { namespace }, log: silent });
manager.addController({
  for: Widget,
  owns: [coreV1.Pod],
  async reconcile(request, { client }) {
    const widget = await client.find(Widget, request);
    if (!widget || (await client.find(coreV1.Pod, request))) return;
    const spec = { schedulerName: "none", containers: [{ name: "main", image: widget.spec.image }] };
    await client.create(coreV1.Pod, withController({ metadata: { ...request }, spec }, widget));
  },
});
manager.add({ start: async () => console.log("ready") });
await manager.start({ signal: stop.signal });
