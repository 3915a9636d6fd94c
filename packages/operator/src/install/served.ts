import { isNotFound, type Kind, type Reader } from "@berth/kube";

/** Whether a cluster serves a kind. */
export async function isServed(client: Reader, kind: Kind): Promise<boolean> {
  try {
    for await (const _first of client.pages(kind, { pageSize: 1 })) break;
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
