/** Descriptions in OpenAPI are pages long; a comment in TypeScript has room for how they begin. */

/** The text of a comment on one line, and on each of two lines, when it is indented as fields are. */
const ONE_LINE = 120 - "  /** ".length - " */".length;
const EACH_LINE = 120 - "   * ".length;

/**
 * The lines of a doc comment: the sentences that fit on one line, or the first sentence on two lines, cut if it is
 * longer still. None if there is nothing to say.
 */
export function docComment(description = ""): string[] {
  const lines = shortened(description).map((line) => line.replaceAll("*/", "*\\/"));
  return lines.length < 2
    ? lines.map((line) => `/** ${line} */`)
    : ["/**", ...lines.map((line) => ` * ${line}`), " */"];
}

/** The text of that comment. */
export function summary(description = ""): string {
  return shortened(description).join(" ");
}

function shortened(description: string): string[] {
  const text = beginning(description);
  if (text === "") return [];
  if (text.length <= ONE_LINE) return [text];
  const end = text.lastIndexOf(" ", EACH_LINE);
  return [text.slice(0, end), cut(text.slice(end + 1), EACH_LINE)];
}

function beginning(description: string): string {
  const [first = "", ...others] = sentences(withoutLinks(firstParagraph(description)));
  let text = first;
  for (const sentence of others) {
    // "Valid values are:" is followed by what is not shown.
    if (text.length + 1 + sentence.length > ONE_LINE || sentence.endsWith(":")) break;
    text += ` ${sentence}`;
  }
  return text.replace(/[,:]$/, ".");
}

/** What stands before any blank line or list, on one line. */
function firstParagraph(description: string): string {
  const [paragraph = ""] = description.trim().split(/\n\s*\n|\n\s*[-*] |(?<=:) [-*] /);
  return paragraph.replaceAll(/\s+/g, " ").trim();
}

function withoutLinks(text: string): string {
  return text
    .replaceAll(/\s*\(?\b(more info(rmation)?|read more|see|ref)( at)?:? https?:\/\/\S+/gi, "")
    .replaceAll(/(?<=\.) https?:\/\/\S+/g, "")
    .trim();
}

/** A sentence ends with a full stop before a capital, unless the full stop is that of an abbreviation. */
function sentences(text: string): string[] {
  return text.split(/(?<=(?<!\b(?:e\.g|i\.e|etc|vs|Ex|[A-Z]))\.\)?) (?=[A-Z"'`(])/);
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const words = text.slice(0, text.lastIndexOf(" ", length - 1));
  return `${words.replace(/[\s,;:(.-]+$/, "")}…`;
}
