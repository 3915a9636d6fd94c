import { describe, expect, it } from "vitest";
import { docComment } from "./doc-comment.ts";

describe("docComment", () => {
  it.each([
    ["nothing", "", []],
    ["only a link", "More info: https://kubernetes.io/docs", []],
    ["one sentence", "Name of the port.", ["/** Name of the port. */"]],
    ["several that fit", "Name of the port. Must be unique.", ["/** Name of the port. Must be unique. */"]],
    ["later paragraphs", "The policy.\n\nPossible enum values:\n - `A`", ["/** The policy. */"]],
    ["a list", "The policy. Valid values are:\n- A: one\n- B: two", ["/** The policy. */"]],
    ["the beginning of a list", "The schedule in Cron format,\n\nsee there", ["/** The schedule in Cron format. */"]],
    ["a link at the end", "The spec. More info: https://git.k8s.io/x#y", ["/** The spec. */"]],
    ["a link in the middle", "The spec. See https://git.k8s.io/x. Read-only.", ["/** The spec. Read-only. */"]],
    ["abbreviations", "A type, e.g. Ready. One word.", ["/** A type, e.g. Ready. One word. */"]],
    ["the end of a comment", "Matches */etc.", ["/** Matches *\\/etc. */"]],
  ])("with %s", (_, description, lines) => {
    expect(docComment(description)).toEqual(lines);
  });

  it("leaves out sentences that do not fit on the first one's line", () => {
    expect(docComment(`First. Second ${"word ".repeat(30)}end. Third.`)).toEqual(["/** First. */"]);
  });

  it("gives a long first sentence two lines, and cuts what is longer still", () => {
    const [open, first = "", second = "", close, ...more] = docComment(`${"word ".repeat(100)}end.`);
    expect([open, close, more]).toEqual(["/**", " */", []]);
    expect(second).toMatch(/word…$/);
    for (const line of [first, second]) expect(`  ${line}`.length).toBeLessThanOrEqual(120);
    expect(docComment(`${"word ".repeat(24)}end.`).slice(1, -1)).toEqual([
      ` * ${"word ".repeat(23).trim()}`,
      " * word end.",
    ]);
  });
});
