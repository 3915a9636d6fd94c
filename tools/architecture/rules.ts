/** The rules of the architecture: pure functions from what a file contains to what is wrong with it. */

/** Package → the packages it may import. The one place where directions are decided; the README says what each package is. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  kube: [],
  cluster: [],
  sim: ["kube"],
  model: ["kube"],
  operator: ["kube", "model"],
  gateway: ["kube", "model"],
  sdk: ["model"],
  schedulers: ["sdk"],
  lab: ["sim", "operator", "gateway", "sdk"],
  ui: ["sdk", "model"],
  cli: ["kube", "cluster", "sim", "model", "operator", "gateway", "sdk", "schedulers", "lab", "ui"],
};

/**
 * What runs on Kubernetes is tried on Kubernetes: any package's tests may start a cluster, simulated or real. And what talks
 * about Berth's resources is tried where somebody makes them true.
 */
const TEST_ONLY = ["cluster", "sim"];
const TESTED_WITH: Readonly<Record<string, readonly string[]>> = {
  gateway: ["operator"],
  sdk: ["kube", "operator", "gateway"],
  schedulers: ["kube", "operator", "gateway"],
};

export interface Import {
  /** As written: "./clock.ts", "@berth/kube", "node:fs". */
  readonly specifier: string;
  readonly line: number;
}

/** A mention of time or chance: `Date.now`, `setTimeout`, `import "node:timers"` … */
export interface Mention {
  readonly what: string;
  readonly line: number;
}

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly imports: readonly Import[];
  readonly mentions: readonly Mention[];
}

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** What is wrong with a file; empty if nothing is. */
export function violations(file: SourceFile): Violation[] {
  return [...layerViolations(file), ...timeAndChanceViolations(file)];
}

function layerViolations({ path, imports }: SourceFile): Violation[] {
  const from = packageOf(path);
  if (from === undefined) return []; // tools and benchmarks stand outside and may use every package
  const allowed = [
    from,
    ...(layers[from] ?? []),
    ...(isTest(path) ? [...TEST_ONLY, ...(TESTED_WITH[from] ?? [])] : []),
  ];
  if (!(from in layers)) {
    return [{ path, line: 1, message: `packages/${from} is not in the table of tools/architecture/rules.ts` }];
  }
  return imports.flatMap(({ specifier, line }) => {
    const target = targetOf(path, specifier);
    if (target === undefined) return [];
    if ("outside" in target) {
      return [{ path, line, message: `a package must not reach outside itself: "${specifier}"` }];
    }
    if (target.package !== from && target.inside) {
      return [{ path, line, message: `import @berth/${target.package}, not a file inside it: "${specifier}"` }];
    }
    if (!allowed.includes(target.package)) {
      const may = layers[from]?.map((name) => `@berth/${name}`).join(", ") || "no other package of Berth";
      return [{ path, line, message: `@berth/${from} must not import @berth/${target.package}; it may import ${may}` }];
    }
    return [];
  });
}

function timeAndChanceViolations({ path, mentions }: SourceFile): Violation[] {
  const name = path.split("/").at(-1) as string;
  // Tests of real processes wait in real time; they too ask the clock module, so they are not exempt.
  if (name === "clock.ts" || name === "random.ts") return [];
  return mentions.map(({ what, line }) => ({
    path,
    line,
    message: `${what}: time and chance come only from clock.ts and random.ts`,
  }));
}

/** "kube" for "packages/kube/src/client.ts". */
function packageOf(path: string): string | undefined {
  return path.match(/^packages\/([^/]+)\//)?.[1];
}

function isTest(path: string): boolean {
  return /\.test\.tsx?$|\/(testing|conformance|scenarios|chaos)\//.test(path);
}

/** What a package has for the tests of those above it. */
function isForTests(specifier: string, path: string): boolean {
  return specifier === "@berth/operator/scenarios" && isTest(path);
}

type Target = { readonly package: string; readonly inside: boolean } | { readonly outside: true };

/** Which package of ours an import means; `undefined` for Node's own modules and other people's. */
function targetOf(path: string, specifier: string): Target | undefined {
  const [, name, inside] = specifier.match(/^@berth\/([^/]+)(\/.+)?$/) ?? [];
  if (name !== undefined) return { package: name, inside: inside !== undefined && !isForTests(specifier, path) };
  if (!specifier.startsWith(".")) return undefined;
  const resolved = new URL(specifier, `file:///${path}`).pathname.slice(1);
  const target = packageOf(resolved);
  return target === undefined ? { outside: true } : { package: target, inside: true };
}
