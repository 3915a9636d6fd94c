/** The rules of service accounts. */
import type { coreV1 } from "@berth/kube";
import type { Rules } from "../../api/resource.ts";
import type { LooseObject } from "../common/loose.ts";

type ServiceAccount = LooseObject<coreV1.ServiceAccount>;

export const serviceAccountRules: Rules = {
  prepareForCreate: (account: ServiceAccount) => onlyNames(account),
  prepareForUpdate: (account: ServiceAccount) => onlyNames(account),
};

/** An account refers to secrets of its own namespace, so that a name is all it takes. */
function onlyNames(account: ServiceAccount): void {
  if (account.secrets) account.secrets = account.secrets.map(({ name }) => ({ ...(name && { name }) }));
}
