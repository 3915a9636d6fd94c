/** Container images without a registry: a folder, or a single static program, becomes an archive that containerd reads. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { ClusterError } from "../errors.ts";

export interface ImageSource {
  /** The name by which pods ask for it, with `imagePullPolicy: Never` or `IfNotPresent`: "example.org/tool:1". */
  readonly name: string;
  /** A folder that becomes the root of the file system … */
  readonly folder?: string;
  /** … or a statically linked program, which becomes `/bin/<its name>`. Exactly one of the two. */
  readonly binary?: string;
  /** Further names in `/bin` for the program, which may behave differently under each. Default: none. */
  readonly links?: readonly string[];
  /** Default: the program, if there is one. */
  readonly entrypoint?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How `tar` is called; a cluster calls it as one of its own processes. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<void>;

/** Writes the image to `archive` in the format of `docker save`. Works in a folder beside it. */
export async function writeImage(source: ImageSource, archive: string, run: RunProgram): Promise<void> {
  checkImage(source);
  const work = mkdtempSync(`${archive}-`);
  const tar = (file: string, folder: string, entries: string[]) =>
    run("tar", ["-cf", file, "--owner=0", "--group=0", "--numeric-owner", "-C", folder, ...entries]);
  try {
    const root = source.folder ?? rootWith(source.binary as string, source.links ?? [], join(work, "root"));
    await tar(join(work, "layer.tar"), root, ["."]);
    const entrypoint = source.entrypoint ?? (source.binary ? [`/bin/${basename(source.binary)}`] : undefined);
    const config = JSON.stringify({
      architecture: { x64: "amd64" }[process.arch as string] ?? process.arch,
      os: "linux",
      config: {
        Env: [
          "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
          ...Object.entries(source.env ?? {}).map(([key, value]) => `${key}=${value}`),
        ],
        ...(entrypoint && { Entrypoint: entrypoint }),
      },
      rootfs: { type: "layers", diff_ids: [`sha256:${sha256(readFileSync(join(work, "layer.tar")))}`] },
    });
    const configFile = `${sha256(config)}.json`;
    writeFileSync(join(work, configFile), config);
    const manifest = [{ Config: configFile, RepoTags: [fullName(source.name)], Layers: ["layer.tar"] }];
    writeFileSync(join(work, "manifest.json"), JSON.stringify(manifest));
    await tar(archive, work, [configFile, "layer.tar", "manifest.json"]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Rejects a source that could not become an image that runs, before anything is written. */
export function checkImage({ name, folder, binary, links = [] }: ImageSource): void {
  const reject = (why: string): never => {
    throw new ClusterError("BERTH_CLUSTER_IMAGE_INVALID", `image ${name}: ${why}`);
  };
  if ((folder === undefined) === (binary === undefined)) reject("give either a folder or a binary");
  const strange = links.find((link) => link.includes("/") || link === "." || link === ".." || link === "");
  if (strange !== undefined) reject(`"${strange}" is not the name of a program`);
  const path = (folder ?? binary) as string;
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) reject(`${path} does not exist`);
  else if (folder !== undefined && !stat.isDirectory()) reject(`${path} is not a folder`);
  else if (binary !== undefined && !isStaticProgram(path)) {
    reject(`${path} is not a statically linked program; in an image of its own it could not find its libraries`);
  }
}

/** Kubernetes completes short names in this way before it looks them up. */
function fullName(name: string): string {
  const tagged = name.includes(":", name.lastIndexOf("/")) ? name : `${name}:latest`;
  const [first = "", ...rest] = tagged.split("/");
  if (rest.length === 0) return `docker.io/library/${tagged}`;
  return /[.:]|^localhost$/.test(first) ? tagged : `docker.io/${tagged}`;
}

function rootWith(binary: string, links: readonly string[], root: string): string {
  mkdirSync(join(root, "bin"), { recursive: true });
  mkdirSync(join(root, "tmp"), { mode: 0o1777 });
  const program = join(root, "bin", basename(binary));
  copyFileSync(binary, program);
  chmodSync(program, 0o755);
  for (const link of links) symlinkSync(basename(binary), join(root, "bin", link));
  return root;
}

/** An ELF file without a program header of type PT_INTERP asks for no dynamic linker. */
export function isStaticProgram(file: string): boolean {
  const head = Buffer.alloc(4096);
  const handle = openSync(file, "r");
  try {
    readSync(handle, head, 0, head.length, 0);
  } finally {
    closeSync(handle);
  }
  const isElf64 = head.readUInt32BE(0) === 0x7f454c46 && head[4] === 2;
  if (!isElf64) return false;
  const PT_INTERP = 3;
  const offset = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  for (let index = 0; index < count; index++) {
    const at = offset + index * size;
    if (at + 4 > head.length || head.readUInt32LE(at) === PT_INTERP) return false;
  }
  return true;
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}
