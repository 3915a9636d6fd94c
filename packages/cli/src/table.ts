/** Tables as kubectl prints them, and the other forms of output. Pure. */

export interface Column<T> {
  readonly title: string;
  readonly of: (item: T) => string | number | undefined;
  /** Only with `-o wide`. */
  readonly wide?: boolean;
}

export interface TableOptions {
  readonly wide?: boolean;
  readonly headers?: boolean;
}

/** Lines, the first of which names the columns. What there is nothing to say about is "<none>". */
export function table<T>(items: readonly T[], columns: readonly Column<T>[], options: TableOptions = {}): string[] {
  const shown = columns.filter(({ wide }) => options.wide || !wide);
  const rows = items.map((item) => shown.map(({ of }) => textOf(of(item))));
  const all = options.headers === false ? rows : [shown.map(({ title }) => title), ...rows];
  const widths = shown.map((_, i) => Math.max(0, ...all.map((row) => row[i]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join("   ")
      .trimEnd(),
  );
}

function textOf(value: string | number | undefined): string {
  return value === undefined || value === "" ? "<none>" : String(value);
}

export const FORMATS = ["json", "yaml", "wide", "name"] as const;
export type Format = (typeof FORMATS)[number];

/** @param noun - Of one of them: "job". */
export async function formatted<T extends { readonly name: string }>(
  items: readonly T[],
  noun: string,
  columns: readonly Column<T>[],
  { format, headers, single }: { format?: Format | undefined; headers?: boolean; single?: boolean },
): Promise<string> {
  const value = single ? items[0] : { items };
  if (format === "json") return JSON.stringify(value, null, 2);
  if (format === "yaml") return (await import("yaml")).stringify(value).trimEnd();
  if (format === "name") return items.map(({ name }) => `${noun}/${name}`).join("\n");
  return table(items, columns, { wide: format === "wide", ...(headers !== undefined && { headers }) }).join("\n");
}
