// Runs a script of this repository with the Node that the repository brings, after installing whatever is missing
// or stale. Plain JavaScript without dependencies: it is the one file that the machine's own, older Node must read.
//
//   node tools/with-node.mjs SCRIPT [ARGUMENT …]
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const node = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
const stamp = join(root, "node_modules", ".berth-installed");

/** What the installed tree depends on: the lock file and the machine it was installed for. */
function wanted() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return createHash("sha256").update(lock).update(`${process.platform}-${process.arch}`).digest("hex");
}

function installed() {
  return existsSync(node) && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted();
}

function install() {
  process.stderr.write("berth: installing the packages of package-lock.json …\n");
  const npm = process.env.npm_execpath; // set when npm runs us; on a PATH without npm it is the only way to find it
  const [command, ...args] = npm ? [process.execPath, npm] : ["npm"];
  // Not `npm ci`: it insists on lock entries for the optional binaries of every other platform, which a lock file
  // written against a registry mirror lacks. This keeps to the lock file just as well, and leaves it as it is.
  const result = spawnSync(command, [...args, "install", "--no-save", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", process.stderr.fd, process.stderr.fd], // standard output belongs to the script
  });
  if (result.status !== 0) {
    process.stderr.write("berth: `npm install` failed; its message is above. Nothing was started.\n");
    process.exit(1);
  }
  writeFileSync(stamp, wanted());
}

if (!installed()) install();

const [script, ...args] = process.argv.slice(2);
// npm changes into the root; a path that a person typed is relative to where they typed it.
const env = { ...process.env, BERTH_INVOCATION_DIR: process.env.INIT_CWD ?? process.cwd() };
const child = spawn(node, [join(root, script), ...args], { stdio: "inherit", env });
// A terminal sends Ctrl-C to the child as well: stay until it has cleaned up, and pass on what only we were sent.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
