/** Reads a TypeScript file into what the rules look at. */
import { type Expression, parseSync, Visitor } from "oxc-parser";
import type { Import, Mention, SourceFile } from "./rules.ts";

/** Functions that tell the time, wait, or throw dice. */
const GLOBALS = ["setTimeout", "setInterval", "setImmediate"];
const MEMBERS = ["Date.now", "Math.random", "AbortSignal.timeout", "process.hrtime", "process.uptime"];
const RANDOM = ["randomUUID", "getRandomValues", "randomBytes", "randomInt", "randomFill", "randomFillSync"];
const MODULES = ["node:timers", "node:timers/promises", "node:perf_hooks", "timers", "timers/promises", "perf_hooks"];

export function readSource(path: string, text: string): SourceFile {
  const { program, module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const lineOf = (offset: number) => text.slice(0, offset).split("\n").length;

  const imports: Import[] = [];
  const mentions: Mention[] = [];
  const mention = (what: string, offset: number) => mentions.push({ what, line: lineOf(offset) });
  const importing = (specifier: string, offset: number) => {
    imports.push({ specifier, line: lineOf(offset) });
    if (MODULES.includes(specifier)) mention(`import "${specifier}"`, offset);
  };

  for (const { moduleRequest } of module.staticImports) importing(moduleRequest.value, moduleRequest.start);
  for (const { entries } of module.staticExports) {
    const request = entries.find((entry) => entry.moduleRequest)?.moduleRequest;
    if (request) importing(request.value, request.start);
  }
  new Visitor({
    ImportExpression({ source, start }) {
      const specifier = constantText(source);
      // What is put together at run time cannot be checked; "*" is in no package's list.
      importing(specifier ?? "@berth/*", start);
    },
    TSImportType({ source, start }) {
      importing(source.value, start);
    },
    TSImportEqualsDeclaration({ moduleReference, start }) {
      if (moduleReference.type === "TSExternalModuleReference") importing(moduleReference.expression.value, start);
    },
    ImportSpecifier({ imported, start }) {
      const name = imported.type === "Identifier" ? imported.name : imported.value;
      if (RANDOM.includes(name)) mention(name, start);
    },
    CallExpression({ callee, start }) {
      if (callee.type !== "Identifier") return;
      if (GLOBALS.includes(callee.name)) mention(callee.name, start);
      if (callee.name === "Date") mention("Date()", start);
    },
    NewExpression({ callee, arguments: args, start }) {
      // With an argument it only converts a moment that somebody else has told.
      if (callee.type === "Identifier" && callee.name === "Date" && args.length === 0) mention("new Date()", start);
    },
    MemberExpression({ object, property, start }) {
      if (property.type !== "Identifier" || object.type !== "Identifier") return;
      const name = `${object.name}.${property.name}`;
      const isClock = MEMBERS.includes(name) || object.name === "performance";
      const isGlobal = object.name === "globalThis" && GLOBALS.includes(property.name);
      if (isClock || isGlobal || RANDOM.includes(property.name)) mention(name, start);
    },
  }).visit(program);
  return { path, imports, mentions };
}

/** The text of a string or of a template without holes. */
function constantText(expression: Expression): string | undefined {
  if (expression.type === "Literal" && typeof expression.value === "string") return expression.value;
  if (expression.type === "TemplateLiteral" && expression.expressions.length === 0) {
    return expression.quasis[0]?.value.cooked ?? undefined;
  }
  return undefined;
}
