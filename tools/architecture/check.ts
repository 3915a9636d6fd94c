/** `node tools/architecture/check.ts`: reports every import and every use of time or chance that breaks a rule. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { violations } from "./rules.ts";
import { readSource } from "./source.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** All sources, committed or not, that git does not ignore. */
function sourceFiles(): string[] {
  const listing = ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx"];
  const files = execFileSync("git", listing, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  return files.filter((file) => existsSync(join(root, file)));
}

const files = sourceFiles();
const found = files.flatMap((file) => violations(readSource(file, readFileSync(join(root, file), "utf8"))));
for (const { path, line, message } of found) console.error(`${path}:${line}: ${message}`);
if (found.length > 0) process.exit(1);
console.log(`${files.length} files keep to the architecture`);
