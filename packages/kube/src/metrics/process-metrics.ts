/**
 * What every program shows of its process, under Prometheus' usual names. Not those of prom-client, which ask the event
 * loop for its delay a hundred times a second, whether anybody looks or not.
 */
import { readdirSync } from "node:fs";
import { Counter, Gauge, type Registry } from "prom-client";

export function processMetrics(registry: Registry): void {
  const gauge = (name: string, help: string, value: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const now = value();
        if (now !== undefined) this.set(now);
      },
    });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system time, in seconds",
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset(); // the system counts; a counter of prom-client can only be added to
      this.inc((user + system) / 1e6);
    },
  });
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  gauge("nodejs_heap_size_used_bytes", "Of which objects of JavaScript", () => process.memoryUsage().heapUsed);
  gauge("process_open_fds", "Open files and sockets", openFiles);
}

/** Only Linux tells. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}
