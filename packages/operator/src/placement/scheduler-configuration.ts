/** What the second kube-scheduler is told, which places executors with our help. Pure. */

/** What the second kube-scheduler has to know. */
export interface SchedulerConfigurationInput {
  /** What executors call it. */
  readonly schedulerName: string;
  /** Where the extender is: "https://berth-extender.berth-system:9443". */
  readonly url: string;
  /** Files on kube-scheduler's side: the extender's authority, and its own certificate and key. */
  readonly tls?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  /** In the file of a scheduler that runs beside others. Default: none, as inside of the cluster. */
  readonly kubeconfig?: string;
}

/** A KubeSchedulerConfiguration, to be written as YAML and given to kube-scheduler with `--config`. */
export function schedulerConfiguration({ schedulerName, url, tls, kubeconfig }: SchedulerConfigurationInput): object {
  return {
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    // Two of its replicas would otherwise fight over the lease of the cluster's own scheduler.
    leaderElection: { leaderElect: true, resourceName: schedulerName, resourceNamespace: "kube-system" },
    ...(kubeconfig !== undefined && { clientConnection: { kubeconfig } }),
    // Whoever has lost its place to another for a moment is not to wait for ten seconds.
    podInitialBackoffSeconds: 1,
    podMaxBackoffSeconds: 2,
    profiles: [{ schedulerName }],
    extenders: [
      {
        urlPrefix: url,
        filterVerb: "filter",
        preemptVerb: "preempt",
        // Names of nodes are enough for us; whole nodes would be megabytes a pod.
        nodeCacheCapable: true,
        // Without us it would evict whomever it likes.
        ignorable: false,
        httpTimeout: "5s",
        ...(tls && { enableHTTPS: true, tlsConfig: tls }),
      },
    ],
  };
}
