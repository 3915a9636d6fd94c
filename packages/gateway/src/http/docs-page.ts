/** The gateway's description for people: one page, made from that for programs, without a script. */

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema; example?: unknown }>> };
  readonly responses: Readonly<Record<string, { description: string; content?: Record<string, { schema: Schema }> }>>;
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The page. @param document - As `openApi` has made it. */
export function docsPage(document: object): string {
  const { info, paths } = document as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ""))];
  const nav = tags.map((tag) => `<a href="#${text(tag)}">${text(tag)}</a>`).join("");
  const sections = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === tag);
    return `<h2 id="${text(tag)}">${text(tag)}</h2>${own.map(article).join("")}`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)}: the interface</title><style>${STYLE}</style></head><body>
<header><h1>${text(info.title)}</h1><p>${text(info.description)} For programs: <a href="/openapi.json">openapi.json</a>.</p>
<nav>${nav}</nav></header><main>${sections.join("")}</main></body></html>`;
}

function article({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const { summary, description, parameters, requestBody, responses } = operation;
  const rows = parameters.map(
    ({ name, in: where, required, description = "", schema }) =>
      `<tr><td><code>${text(name)}</code>${required ? "*" : ""}</td><td>${text(where)}</td><td>${text(typeOf(schema))}</td><td>${text(description)}</td></tr>`,
  );
  const bodies = Object.entries(requestBody?.content ?? {});
  const [first] = bodies;
  const body = first
    ? `<h4>Body</h4><p>${bodies.map(([type]) => `<code>${text(type)}</code>`).join(", ")}</p>${fields(first[1].schema)}${
        first[1].example === undefined ? "" : `<pre>${text(JSON.stringify(first[1].example, null, 2))}</pre>`
      }`
    : "";
  const answers = Object.entries(responses).map(([status, { description, content }]) => {
    const schema = content?.["application/json"]?.schema;
    return `<li><b>${status}</b> ${text(description)}${schema ? fields(schema) : ""}</li>`;
  });
  return `<details><summary><span class="m ${method}">${method}</span><code>${text(path)}</code><span>${text(summary)}</span></summary>
${description ? `<p>${text(description)}</p>` : ""}${rows.length > 0 ? `<h4>Parameters</h4><table>${rows.join("")}</table>` : ""}${body}
<h4>Answers</h4><ul>${answers.join("")}</ul></details>`;
}

const DEEPEST = 5;

function fields(schema: Schema, depth = 0): string {
  if (depth > DEEPEST) return "";
  if (schema.anyOf) return schema.anyOf.map((each) => fields(each, depth)).join("<p>or</p>");
  if (schema.items) return fields(schema.items, depth);
  if (!schema.properties) return "";
  const rows = Object.entries(schema.properties).map(([name, each]) => {
    const star = schema.required?.includes(name) ? "*" : "";
    return `<li><code>${text(name)}</code>${star} <i>${text(typeOf(each))}</i> ${text(each.description ?? "")}${fields(each, depth + 1)}</li>`;
  });
  return `<ul class="f">${rows.join("")}</ul>`;
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.type === "array") return `list of ${schema.items ? typeOf(schema.items) : "anything"}`;
  return schema.type ?? "anything";
}

function text(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--soft:#8882}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1.5rem}
nav a{margin-right:1rem} h2{margin-top:2rem;text-transform:capitalize;border-bottom:1px solid var(--line)}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}
summary{cursor:pointer;display:flex;gap:.8rem;align-items:baseline;flex-wrap:wrap}
.m{font:600 12px/1 ui-monospace,monospace;min-width:4rem;padding:.25rem .4rem;border-radius:4px;text-align:center;color:#fff;background:#555}
.GET{background:#1d6fb8}.POST{background:#1b7f4b}.PUT{background:#8a5a00}.PATCH{background:#6b4fb3}.DELETE{background:#b3261e}
code,pre{font:13px/1.45 ui-monospace,monospace} pre{background:var(--soft);padding:.7rem;border-radius:6px;overflow:auto}
table{border-collapse:collapse} td{border-top:1px solid var(--line);padding:.2rem .8rem .2rem 0;vertical-align:top}
ul.f{padding-left:1.1rem;margin:.2rem 0} h4{margin:.8rem 0 .2rem}`;
