/** Reads a TypeScript file into what the rules look at. */
import { parseSync, Visitor } from "oxc-parser";
import type { Import, Mention, SourceFile } from "./rules.ts";

/** Functions that tell the time, wait, or throw dice. */
const GLOBALS = ["setTimeout", "setInterval", "setImmediate", "performance"];
const MEMBERS = ["Date.now", "Math.random", "AbortSignal.timeout", "process.hrtime", "process.uptime"];
const RANDOM_MEMBERS = ["randomUUID", "getRandomValues", "randomBytes", "randomInt", "randomFill"];
const MODULES = ["node:timers", "node:timers/promises", "node:perf_hooks", "timers", "timers/promises", "perf_hooks"];
const RANDOM_IMPORTS = ["randomUUID", "randomBytes", "randomInt", "randomFill", "randomFillSync"];

export function readSource(path: string, text: string): SourceFile {
  const { program, module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const lineOf = (offset: number) => text.slice(0, offset).split("\n").length;

  const imports: Import[] = [];
  for (const { moduleRequest } of module.staticImports) {
    imports.push({ specifier: moduleRequest.value, line: lineOf(moduleRequest.start) });
  }
  for (const { entries } of module.staticExports) {
    const request = entries.find((entry) => entry.moduleRequest)?.moduleRequest;
    if (request) imports.push({ specifier: request.value, line: lineOf(request.start) });
  }

  const mentions: Mention[] = imports
    .filter(({ specifier }) => MODULES.includes(specifier))
    .map(({ specifier, line }) => ({ what: `import "${specifier}"`, line }));
  const mention = (what: string, offset: number) => mentions.push({ what, line: lineOf(offset) });
  new Visitor({
    ImportExpression({ source }) {
      if (source.type === "Literal" && typeof source.value === "string") {
        imports.push({ specifier: source.value, line: lineOf(source.start) });
      }
    },
    ImportSpecifier({ imported, start }) {
      const name = imported.type === "Identifier" ? imported.name : imported.value;
      if (RANDOM_IMPORTS.includes(name)) mention(name, start);
    },
    CallExpression({ callee, start }) {
      if (callee.type === "Identifier" && GLOBALS.includes(callee.name)) mention(callee.name, start);
    },
    NewExpression({ callee, arguments: args, start }) {
      // With an argument it only converts a moment that somebody else has told.
      if (callee.type === "Identifier" && callee.name === "Date" && args.length === 0) mention("new Date()", start);
    },
    MemberExpression({ object, property, start }) {
      if (property.type !== "Identifier" || object.type !== "Identifier") return;
      const name = `${object.name}.${property.name}`;
      const isClock = MEMBERS.includes(name) || (object.name === "performance" && property.name !== "mark");
      if (isClock || RANDOM_MEMBERS.includes(property.name)) mention(name, start);
    },
  }).visit(program);
  return { path, imports, mentions };
}
