/** A few numbers about the server, in the form of Prometheus and under the names of the real one. */
import type { ApiServer } from "../api/api-server.ts";
import { qualified } from "../api/refusal.ts";
import type { WatchStreams } from "./watch-stream.ts";

export function metricsText(server: ApiServer, watches: WatchStreams): string {
  const sizes = new Map<string, number>();
  for (const resource of server.resources.all()) {
    sizes.set(qualified(resource), server.store.collection(resource.storage).size);
  }
  return [
    "# HELP apiserver_storage_objects Number of stored objects, by resource.",
    "# TYPE apiserver_storage_objects gauge",
    ...[...sizes].map(([resource, size]) => `apiserver_storage_objects{resource="${resource}"} ${size}`),
    "# HELP apiserver_longrunning_requests Number of watches over HTTP.",
    "# TYPE apiserver_longrunning_requests gauge",
    `apiserver_longrunning_requests{verb="WATCH"} ${watches.count}`,
    "# HELP etcd_mvcc_db_revision The version of the last write.",
    "# TYPE etcd_mvcc_db_revision gauge",
    `etcd_mvcc_db_revision ${server.store.version}`,
    "",
  ].join("\n");
}
