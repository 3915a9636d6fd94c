/** Our own side of the other comparison: an informer on all Pods of a cluster; prints what client-go's prints. */

import { Client, coreV1, HttpTransport, Informer, loadConnection, WallClock } from "@berth/kube";

const transport = new HttpTransport(loadConnection());
const clock = new WallClock();
const started = clock.now();
const informer = new Informer(new Client(transport), coreV1.Pod).start();
await informer.waitForSync();
const seconds = (clock.now() - started) / 1000;
console.log(JSON.stringify({ seconds, objects: informer.size, residentBytes: process.memoryUsage.rss() }));
await informer.stop();
await transport.close();
