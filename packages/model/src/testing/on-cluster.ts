/** Tests of the definitions on a cluster, whichever it is. */
import { apiextensionsV1, type Client, type Clock, isInvalid, isNotFound, sleep } from "@berth/kube";
import { expect, it } from "vitest";
import { resources } from "../resources.ts";
import { accepted, examples, kinds, type Manifest, refused } from "./manifests.ts";

/** Brings the definitions, and waits until they are served. */
export async function install(client: Client, clock: Clock): Promise<void> {
  for (const resource of resources) {
    const definition = resource.crd();
    await client.apply(apiextensionsV1.CustomResourceDefinition, definition, { force: true });
    for (;;) {
      try {
        await client.list(resource, { namespace: "default" });
        break;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        await sleep(clock, 50);
      }
    }
  }
}

/** Declares them. @param client - Only to be called inside of tests. */
export function manifestTests(client: () => Client): void {
  const create = ({ kind, ...manifest }: Manifest) =>
    client().create(
      kinds[kind] as never,
      { ...manifest, metadata: { namespace: "default", ...manifest.metadata } } as never,
      { fieldValidation: "Strict", dryRun: true },
    );

  it.each(examples().map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    "takes the example %s",
    async (_title, manifest) => {
      expect(await create(manifest)).toMatchObject({ spec: manifest.spec });
    },
  );

  it.each(accepted)("takes %s", async (_title, manifest) => {
    await create(manifest);
  });

  it.each(refused)("refuses %s", async (_title, manifest, says) => {
    const error = await create(manifest).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error?.message).toContain(says);
    expect(isInvalid(error) || error.status === 400).toBe(true);
  });
}
