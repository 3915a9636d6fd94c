/**
 * The life of an executor, many times over, as Berth's operator leads it: somebody creates a gated pod, a placer gives it a
 * slot and lifts the gate, the scheduler binds it, it runs and ends, a cleaner deletes it. Submitter, placer and cleaner are
 * three controllers with a client and a watch each; the cluster is whatever is at the other end of the transport.
 */
import { Client, type Clock, coreV1, Informer, type Transport } from "@berth/kube";

const NAMESPACE = "default";
const GATE = "berth.dev/slot";

export interface LifeCycles {
  readonly transport: Transport;
  /** The cluster's. */
  readonly clock: Clock;
  /** On which executors are placed, one after the other. */
  readonly nodes: readonly string[];
  /** How many lives there are in all, and how many at once at most. */
  readonly pods: number;
  readonly atOnce: number;
}

/** Resolves when the last pod is gone. */
export async function liveAndDie({ transport, clock, nodes, pods, atOnce }: LifeCycles): Promise<void> {
  const finished = Promise.withResolvers<void>();
  const controller = () => {
    const client = new Client(transport, { clock });
    return { client, informer: new Informer(client, coreV1.Pod, { namespace: NAMESPACE, clock, freeze: false }) };
  };
  const [submitter, placer, cleaner] = [controller(), controller(), controller()];
  const orFail = (work: Promise<unknown>) => void work.catch(finished.reject);
  let [submitted, gone, placed] = [0, 0, 0];

  const submit = () => orFail(submitter.client.create(coreV1.Pod, executor(submitted++)));
  submitter.informer.addEventHandler({
    onDelete: () => {
      if (++gone === pods) finished.resolve();
      else if (submitted < pods) submit();
    },
  });
  placer.informer.addEventHandler({
    onAdd: ({ metadata: { name = "" }, spec }) => {
      if (!spec?.schedulingGates) return;
      const node = nodes[placed++ % nodes.length] as string;
      orFail(placer.client.patch(coreV1.Pod, { namespace: NAMESPACE, name }, { merge: placement(node) }));
    },
  });
  cleaner.informer.addEventHandler({
    onUpdate: (old, { metadata: { name = "" }, status }) => {
      if (status?.phase !== "Succeeded" || old.status?.phase === "Succeeded") return;
      orFail(cleaner.client.delete(coreV1.Pod, { namespace: NAMESPACE, name }));
    },
  });
  const informers = [submitter, placer, cleaner].map(({ informer }) => informer.start());
  await Promise.all(informers.map((informer) => informer.waitForSync()));
  for (let first = Math.min(atOnce, pods); first > 0; first--) submit();
  try {
    await finished.promise;
  } finally {
    await Promise.all(informers.map((informer) => informer.stop()));
  }
}

/** Pods that run on, spread over all nodes; resolves when all of them run. */
export async function fill(client: Client, clock: Clock, nodes: number, pods: number): Promise<void> {
  const informer = new Informer(client, coreV1.Pod, { clock, freeze: false }).start();
  await informer.waitForSync();
  const all = Promise.withResolvers<void>();
  let running = 0;
  informer.addEventHandler({
    onUpdate: (old, { status }) => {
      if (status?.phase === "Running" && old.status?.phase !== "Running" && ++running === pods) all.resolve();
    },
  });
  for (let index = 0; index < pods; index++) {
    const { metadata, spec } = executor(index);
    const pinned = { ...spec, schedulingGates: [], affinity: placement(`node-${index % nodes}`).spec.affinity };
    await client.create(coreV1.Pod, {
      metadata: { ...metadata, annotations: {} },
      spec: { ...pinned, restartPolicy: "Always" },
    } as coreV1.Pod);
  }
  await all.promise;
  await informer.stop();
}

function executor(index: number): coreV1.Pod {
  return {
    metadata: {
      name: `executor-${index}`,
      namespace: NAMESPACE,
      labels: { app: "bench", "spark-role": "executor" },
      // Understood by KWOK nodes of packages/cluster and by simulated ones alike.
      annotations: { "berth.dev/run-time": "1s" },
    },
    spec: {
      restartPolicy: "Never",
      schedulingGates: [{ name: GATE }],
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: "executor", image: "example.org/spark:4", resources: { requests: { cpu: "10m", memory: "16Mi" } } },
      ],
    },
  };
}

/** Lifts the gate and pins the pod to a node, as a DaemonSet does. */
function placement(node: string) {
  const pin = { matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] };
  return {
    metadata: { annotations: { "berth.dev/slot": `main-${node}-0` } },
    spec: {
      schedulingGates: null,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [pin] } } },
    },
  };
}
