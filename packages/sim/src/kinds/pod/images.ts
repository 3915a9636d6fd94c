/** How images are called, as far as the API server cares: whether "latest" is meant. Pure. */

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const LABEL = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const DOMAIN = `(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*(?::(\\w[\\w.-]{0,127}))?(?:@(${DIGEST}))?$`,
);
const ONLY_DOMAIN = /[.:A-Z]|^localhost$/;
const IDENTIFIER = /^[a-f0-9]{64}$/;

const REMEMBERED = 1000;
const known = new Map<string, boolean>();

/** Whether an image has the tag "latest", or neither tag nor digest. What cannot be read as an image's name has not. */
export function isLatest(image: string): boolean {
  const before = known.get(image);
  if (before !== undefined) return before;
  const result = readLatest(image);
  if (known.size < REMEMBERED && image.length < 300) known.set(image, result);
  return result;
}

function readLatest(image: string): boolean {
  if (image.length > 600 || IDENTIFIER.test(image)) return false;
  const slash = image.indexOf("/");
  // Without one of these marks the first part is a folder on the usual registry, and the rest of the name follows it.
  const isHost = slash !== -1 && ONLY_DOMAIN.test(image.slice(0, slash));
  const match = REFERENCE.exec(isHost ? image : `docker.io/${image}`);
  if (!match) return false;
  const [, tag, digest] = match;
  return tag === "latest" || (tag === undefined && digest === undefined);
}
