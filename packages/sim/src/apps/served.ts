/** Brings custom resources to an API server, and waits until it serves them. */
import { apiextensionsV1, type Kind } from "@berth/kube";
import type { ApiServer } from "../api/api-server.ts";
import { LocalApi } from "../api/local-api.ts";

/** Creates a definition, unless there is one of its name: whoever brought it knows better. */
export function install(server: ApiServer, definition: apiextensionsV1.CustomResourceDefinition): void {
  if (!server.resources.find(apiextensionsV1.CustomResourceDefinition)) return;
  const api = new LocalApi(server, "system:sim");
  if (api.get(apiextensionsV1.CustomResourceDefinition, { name: definition.metadata.name ?? "" })) return;
  api.create(apiextensionsV1.CustomResourceDefinition, definition);
}

/** Calls back once, as soon as a kind is served: at once if it is. Returns a function that calls it off. */
export function whenServed(server: ApiServer, kind: Kind, then: () => void): () => void {
  if (server.resources.find(kind)) {
    then();
    return () => {};
  }
  const end = server.resources.onChange(() => {
    if (!server.resources.find(kind)) return;
    end();
    then();
  });
  return end;
}
