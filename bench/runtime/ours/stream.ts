/** The floor of the other comparison: the same stream as our informer's, read to its end and thrown away. */
import { coreV1, HttpTransport, loadConnection, WallClock } from "@berth/kube";

const transport = new HttpTransport(loadConnection());
const clock = new WallClock();
const started = clock.now();
const parameters = {
  watch: true,
  sendInitialEvents: true,
  resourceVersionMatch: "NotOlderThan",
  allowWatchBookmarks: true,
};
let end = "";
for await (const chunk of transport.bytes({ verb: "list", kind: coreV1.Pod, parameters })) {
  // The bookmark that says so may be cut in two, so the end of the chunk before is looked at again.
  const text = end + Buffer.from(chunk).toString("latin1");
  if (text.includes("k8s.io/initial-events-end")) break;
  end = text.slice(-30);
}
const seconds = (clock.now() - started) / 1000;
console.log(JSON.stringify({ seconds, objects: 0, residentBytes: process.memoryUsage.rss() }));
await transport.close();
