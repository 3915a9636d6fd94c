/** In what form somebody wants an answer, by the header "Accept". Pure. */
import { Refusal } from "../api/refusal.ts";

/** What an object is to be shown as, instead of what it is. */
export interface Transform {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

export interface Accepted {
  readonly format: "json" | "yaml";
  readonly as: Transform | undefined;
}

/** One of the things that somebody would take. */
interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const TYPES: Readonly<Record<string, Accepted["format"]>> = {
  "application/json": "json",
  "application/yaml": "yaml",
  "text/yaml": "yaml",
  "*/*": "json",
  "application/*": "json",
};

const NAMES = "application/json, application/yaml";
const AVAILABLE = `${NAMES}, application/json;stream=watch`;

/** Tables, and objects of which only the metadata is shown. */
function isKnownTransform({ group, version, kind }: Transform): boolean {
  return (
    group === "meta.k8s.io" &&
    (version === "v1" || version === "v1beta1") &&
    (kind === "Table" || kind === "PartialObjectMetadata" || kind === "PartialObjectMetadataList")
  );
}

/** The first that we can do of what is wanted most. Protobuf is not spoken; who speaks it speaks JSON too. */
export function negotiated(header: string | undefined, stream = false, allowed = isKnownTransform): Accepted {
  if (!header) return { format: "json", as: undefined };
  let spoken = false;
  for (const { type, parameters } of clauses(header)) {
    const format = TYPES[type];
    if (format === undefined || (stream && format !== "json")) continue;
    spoken = true;
    const [kind, group, version] = ["as", "g", "v"].map((name) => parameters.get(name));
    const as = kind === undefined ? undefined : { kind, group: group ?? "", version: version ?? "" };
    if (as && !allowed(as)) continue;
    return { format, as };
  }
  if (spoken) throw notAcceptable(`only the following media types are accepted: ${NAMES}`);
  throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${AVAILABLE}`);
}

export function notAcceptable(message: string): Refusal {
  return new Refusal(406, "NotAcceptable", message);
}

function clauses(header: string): Clause[] {
  const parsed = header.split(",").map((text): Clause => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const parameters = new Map(
      rest.map((parameter) => {
        const [name = "", value = ""] = parameter.split("=", 2);
        return [name.trim().toLowerCase(), value.trim()];
      }),
    );
    const quality = Number(parameters.get("q") ?? 1);
    return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
  });
  return parsed.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
}
