/** Every pod runs as somebody, and finds in itself how to prove it: a token, and whom to show it to. */
import type { coreV1 } from "@berth/kube";
import { frozen } from "../api/json.ts";
import { generatedName } from "../api/metadata.ts";
import type { Admission } from "../api/write.ts";
import type { LooseObject } from "../kinds/common/loose.ts";
import { own } from "../kinds/common/maps.ts";
import type { Container, Pod, PodSpec, Volume } from "../kinds/pod/types.ts";
import { isPods, refused } from "./refused.ts";

type ServiceAccount = LooseObject<coreV1.ServiceAccount>;

const ACCOUNTS = { group: "", plural: "serviceaccounts" };
const DEFAULT = "default";
const MIRROR = "kubernetes.io/config.mirror";
const VOLUME = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** Longer than tokens live elsewhere: kubelets fetch new ones, and old clients do not notice. */
const TOKEN_SECONDS = 3607;

export const serviceAccount: Admission = {
  admit: (object, resource, { lookup, random }, operation) => {
    if (operation !== "create" || !isPods(resource)) return;
    const pod: Pod = object;
    pod.spec ??= {};
    const { spec, metadata } = pod;
    if (own(metadata.annotations, MIRROR) !== undefined) {
      if (spec.serviceAccountName) throw refused(object, resource, "a mirror pod may not reference service accounts");
      return;
    }
    const name = spec.serviceAccountName || DEFAULT;
    spec.serviceAccountName = name;
    spec.serviceAccount = name;
    const account: ServiceAccount | undefined = lookup.get(ACCOUNTS, name, metadata.namespace);
    // The one that every namespace gets may be a moment late. The real server waits for it.
    if (!account && name !== DEFAULT) {
      const place = `${metadata.namespace}/${name}`;
      const why = `error looking up service account ${place}: serviceaccount ${JSON.stringify(name)} not found`;
      throw refused(object, resource, why);
    }
    const automount = spec.automountServiceAccountToken ?? account?.automountServiceAccountToken ?? true;
    if (automount) mountToken(spec, () => generatedName(VOLUME, random));
    const secrets = account?.imagePullSecrets ?? [];
    if (!spec.imagePullSecrets?.length && secrets.length > 0) {
      spec.imagePullSecrets = secrets.map((secret) => ({ name: secret.name ?? "" }));
    }
  },
};

function mountToken(spec: PodSpec, invent: () => string): void {
  const present = spec.volumes?.find((volume) => volume.name?.startsWith(VOLUME))?.name;
  // Drawn in any case, so that whoever has no use for it does not change what others draw.
  const name = present ?? invent();
  let isNeeded = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    isNeeded = mountIn(container, name) || isNeeded;
  }
  if (!present && isNeeded) spec.volumes = [...(spec.volumes ?? []), { name, projected: TOKEN }];
}

/** Whether there was nothing there yet. */
function mountIn(container: Container, name: string): boolean {
  const mounts = container.volumeMounts ?? [];
  if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) return false;
  container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
  return true;
}

/** The same for all pods. */
const TOKEN: NonNullable<Volume["projected"]> = frozen({
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
  ],
  defaultMode: 0o644,
});
