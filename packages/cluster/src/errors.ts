/** Everything that can go wrong with a cluster: a stable code, and what a person can do about it. */

/** Code → what to do. The page `docs/reference/errors.md` explains each of them; a test keeps the two in step. */
export const errorCatalogue = {
  BERTH_CLUSTER_API: "Read the API server's answer in the message.",
  BERTH_CLUSTER_ASSETS_WRONG:
    "Point --assets or KUBEBUILDER_ASSETS at a folder with all binaries, or leave both unset.",
  BERTH_CLUSTER_AUDIT_OFF: "Start the cluster with `audit: true` (`--audit`).",
  BERTH_CLUSTER_BUILD_FAILED: "Read Go's message; run the command again to go on where it stopped.",
  BERTH_CLUSTER_COMPONENT_DIED: "Read the tail of the component's log in the message.",
  BERTH_CLUSTER_COMPONENT_NOT_READY: "Read the component's log; the machine may be too slow or too busy.",
  BERTH_CLUSTER_COMPONENT_UNKNOWN: "Name one of the components that the message lists.",
  BERTH_CLUSTER_GO_MISSING: "Install Go, or set KUBEBUILDER_ASSETS to a folder with the binaries.",
  BERTH_CLUSTER_IMAGE_INVALID: "Give a folder or a statically linked executable.",
  BERTH_CLUSTER_NAME_IN_USE: "Choose another name, or take the other cluster down first.",
  BERTH_CLUSTER_NETWORK: "Free one of the private /16 networks that the message lists.",
  BERTH_CLUSTER_NODE_UNKNOWN: "Name a node that exists: `kubectl get nodes`.",
  BERTH_CLUSTER_NOT_FOUND: "Start the cluster first, or check its name with `status`.",
  BERTH_CLUSTER_NOT_LINUX: "Use Linux, or a Linux virtual machine.",
  BERTH_CLUSTER_NOT_READY: "Wait until it is ready, or take it down if its starter is gone.",
  BERTH_CLUSTER_NOT_ROOT: "Run as root, or leave out real nodes: KWOK nodes need no privileges.",
  BERTH_CLUSTER_OPTION_INVALID: "Correct the option that the message names.",
  BERTH_CLUSTER_PORT_IN_USE: "Choose another port, or none: a free one is then found.",
  BERTH_CLUSTER_REMNANTS: "The kernel holds these processes: look at them with `ps`, then run `down` again.",
  BERTH_CLUSTER_TOOLS_MISSING: "Install the programs that the message names.",
  BERTH_CLUSTER_TOO_LITTLE_MEMORY: "Free memory, or start fewer nodes.",
} as const;

export type ClusterErrorCode = keyof typeof errorCatalogue;

/** The one error class of this package. The message says what was wrong and where; `remedy` what to do. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly code: ClusterErrorCode;

  constructor(code: ClusterErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get remedy(): string {
    return errorCatalogue[this.code];
  }

  /** What a command prints: what was wrong, what to do, and the code to look up. */
  get report(): string {
    return `\nberth: ${this.message}\n       ${this.remedy} (${this.code})`;
  }
}
