import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBinaries } from "../binaries/binaries.ts";
import { checkImage, isStaticProgram, writeImage } from "./image.ts";

const scratch = mkdtempSync(join(tmpdir(), "berth-image-test-"));
const text = join(scratch, "text");
let kubectl: string;

beforeAll(async () => {
  writeFileSync(text, "#!/bin/sh\n");
  ({ kubectl } = await findBinaries());
});
afterAll(() => rmSync(scratch, { recursive: true }));

const tar = async (program: string, args: readonly string[]) => {
  execFileSync(program, args);
};

describe("an image", () => {
  it("is made from static programs only", () => {
    expect(isStaticProgram(kubectl)).toBe(true);
    expect(isStaticProgram(process.execPath)).toBe(false);
    expect(isStaticProgram(text)).toBe(false);
  });

  it.each([
    ["neither folder nor binary", {}],
    ["both", { folder: "/", binary: "/bin/sh" }],
    ["a folder that is a file", { folder: text }],
    ["a folder that is not there", { folder: join(scratch, "nowhere") }],
    ["a program that needs libraries", { binary: process.execPath }],
    ["a script", { binary: text }],
    ["a program that is linked elsewhere", { binary: text, links: ["../../etc/passwd"] }],
  ])("is refused from %s", (_, source) => {
    const refused = expect.objectContaining({ code: "BERTH_CLUSTER_IMAGE_INVALID" });
    expect(() => checkImage({ name: "x", ...source })).toThrow(refused);
  });

  it("is an archive as `docker save` writes it, owned by root, under the name that Kubernetes looks for", async () => {
    const folder = join(scratch, "root");
    mkdirSync(folder);
    writeFileSync(join(folder, "file"), "content");
    const archive = join(scratch, "image.tar");
    await writeImage({ name: "tool", folder, entrypoint: ["/file"], env: { A: "1" } }, archive, tar);
    const read = (name: string) => execFileSync("tar", ["-xOf", archive, name]);
    const [manifest] = JSON.parse(read("manifest.json").toString());
    expect(manifest).toMatchObject({ RepoTags: ["docker.io/library/tool:latest"], Layers: ["layer.tar"] });
    const { config } = JSON.parse(read(manifest.Config).toString());
    expect(config).toMatchObject({ Entrypoint: ["/file"], Env: expect.arrayContaining(["A=1"]) });
    writeFileSync(join(scratch, "layer.tar"), read("layer.tar"));
    const listing = execFileSync("tar", ["--numeric-owner", "-tvf", join(scratch, "layer.tar")], { encoding: "utf8" });
    expect(listing).toMatch(/ 0\/0 .* \.\/file/);
  });
});
