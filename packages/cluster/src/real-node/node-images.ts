/** The images of real nodes: the two that every node has, and how a node comes to know others. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ClusterPlaces } from "../places.ts";
import { run } from "../process/command.ts";
import { type ImageSource, isStaticProgram, writeImage } from "./image.ts";

/** A small Linux in one program: shell, sleep, wget, httpd and some three hundred more. */
const BUSYBOX = "/bin/busybox";

export function hasStaticBusybox(): boolean {
  return existsSync(BUSYBOX) && isStaticProgram(BUSYBOX);
}

/** Real nodes come with it as an image, so that there is something to run. */
export function busyboxImage(): ImageSource {
  const commands = execFileSync(BUSYBOX, ["--list"], { encoding: "utf8" }).split("\n");
  const links = commands.filter((command) => command !== "" && command !== "busybox");
  return { name: "berth.dev/busybox", binary: BUSYBOX, links, entrypoint: ["/bin/sh"] };
}

/** What holds a pod's namespaces open. Ends when asked, which a first process does only if it says so. */
export const sandboxImage: ImageSource = {
  name: "berth.dev/pause:latest",
  binary: BUSYBOX,
  entrypoint: [BUSYBOX, "sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 1000000 & wait; done"],
};

/** Makes archives of images, and removes them when `use` is done with them. */
export async function withImages<T>(
  { places, signal }: { places: ClusterPlaces; signal?: AbortSignal | undefined },
  images: readonly ImageSource[],
  use: (archives: readonly string[]) => Promise<T>,
): Promise<T> {
  const scratch = mkdtempSync(join(places.folder, "images-"));
  try {
    const archives = images.map((_, index) => join(scratch, `${index}.tar`));
    for (const [index, image] of images.entries()) {
      await writeImage(image, archives[index] as string, (program, args) => run(places.folder, program, args, signal));
    }
    return await use(archives);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
