/** Everything that can go wrong: a stable code, and what a person can do about it. */

/** Code → what to do. The page `docs/reference/errors.md` explains each of them; a test keeps the two in step. */
export const errorCatalogue = {
  KUBE_ALREADY_OWNED: "Give the object another name, or find out whose it is.",
  KUBE_API_ALREADY_EXISTS: "Read the object that is there, or choose another name.",
  KUBE_API_BAD_REQUEST: "Correct the request: the message says what the API server could not read.",
  KUBE_API_CONFLICT: "Read the object again, make the change to what is there now, and write that.",
  KUBE_API_EXPIRED: "List again: the API server no longer knows what has changed since then.",
  KUBE_API_FAILED: "Read the API server's answer in the message.",
  KUBE_API_FORBIDDEN: "Grant the verb and resource in the message to the user or service account in it.",
  KUBE_API_INVALID: "Correct the fields that `causes` lists.",
  KUBE_API_NOT_FOUND: "Check kind, namespace and name; a custom resource needs its definition first.",
  KUBE_API_TOO_MANY_REQUESTS: "Ask less often; the client has waited and tried again already.",
  KUBE_API_UNAUTHORIZED: "Renew the credentials in the kubeconfig.",
  KUBE_API_UNAVAILABLE: "Try again later; the client has waited and tried again already where that was safe.",
  KUBE_CONFIG_INVALID: "Correct the kubeconfig that the message names.",
  KUBE_CONNECTION_FAILED: "Check that the API server runs and can be reached from here.",
  KUBE_CREDENTIALS_FAILED: "Run the program that the message names by hand, and see what it says.",
  KUBE_EXEC_FAILED: "Read what the node said in the message.",
  KUBE_INDEX_UNKNOWN: "Add the index to the informer before it is asked for.",
  KUBE_LEADERSHIP_LOST: "Nothing: another replica works now. Let this process end and start again.",
  KUBE_MANAGER_MISUSED: "Do as the message says: it names the call, option or name that is wrong.",
  KUBE_NOT_SYNCED: "Wait for `synced`; if it never comes, the log says why the list fails.",
  KUBE_QUANTITY_INVALID: "Write a number with one of Kubernetes' suffixes: 700m, 896Mi, 1e3.",
  KUBE_RECONCILE_TIMEOUT: "Pass the context's `signal` on to whatever takes long, or allow more time.",
  KUBE_SCHEMA_NOT_STRUCTURAL: "Write what the message proposes for the field that it names.",
  KUBE_SELECTOR_INVALID: "Correct it: app=web,tier in (a,b),!old.",
  KUBE_SHUT_DOWN: "Nothing: the program is ending.",
  KUBE_WATCH_BROKEN: "Nothing if it happens now and then: the watch begins again by itself.",
} as const;

/** A code of the catalogue. */
export type KubeErrorCode = keyof typeof errorCatalogue;

/** The error class of this package; `ApiError` is the only other one. The message says what was wrong and where. */
export class KubeError extends Error {
  override readonly name: string = "KubeError";
  readonly code: KubeErrorCode;

  constructor(code: KubeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** What a person can do about it. */
  get remedy(): string {
    return errorCatalogue[this.code];
  }
}

/** Whether something thrown has the given code. */
export function hasCode(error: unknown, code: KubeErrorCode): error is KubeError {
  return error instanceof KubeError && error.code === code;
}
