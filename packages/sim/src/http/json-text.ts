/** What a JSON text says that its value no longer does: fields that were given twice, and how deep it goes. Pure. */

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COLON] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a,
];

export interface JsonText {
  /** How deep braces and brackets are nested. */
  readonly depth: number;
  /** How many fields there are, in all objects together. */
  readonly fields: number;
}

/** Looks a text over that is known to be JSON. */
export function survey(text: string): JsonText {
  let [depth, deepest, fields] = [0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        deepest = Math.max(deepest, ++depth);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
      case COLON:
        fields++;
        break;
    }
  }
  return { depth: deepest, fields };
}

/** Where the string ends that begins here: at its second quote. */
function endOfString(text: string, start: number): number {
  for (let end = start + 1; ; end++) {
    end = text.indexOf('"', end);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
}

/** How many fields a value has, in all objects together. */
export function countFields(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countFields(item);
    return count;
  }
  for (const field of Object.values(value)) count += 1 + countFields(field);
  return count;
}

interface Place {
  readonly path: string;
  /** `undefined` in arrays. */
  readonly seen: Set<string> | undefined;
  key: string;
  index: number;
}

/** The paths of fields that a text gives more than once: "spec.containers[0].image". The text is known to be JSON. */
export function duplicates(text: string): string[] {
  const found: string[] = [];
  const places: Place[] = [];
  const pathHere = () => {
    const place = places.at(-1);
    if (!place) return "";
    if (!place.seen) return `${place.path}[${place.index}]`;
    return place.path ? `${place.path}.${place.key}` : place.key;
  };
  for (let index = 0; index < text.length; index++) {
    const place = places.at(-1);
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(text, index);
        const isKey = place?.seen && /^\s*:/.test(text.slice(end + 1, end + 64));
        if (isKey) {
          place.key = JSON.parse(text.slice(index, end + 1));
          const path = pathHere();
          if (place.seen.has(place.key) && !found.includes(path)) found.push(path);
          place.seen.add(place.key);
        }
        index = end;
        break;
      }
      case OPEN_BRACE:
        places.push({ path: pathHere(), seen: new Set(), key: "", index: 0 });
        break;
      case OPEN_BRACKET:
        places.push({ path: pathHere(), seen: undefined, key: "", index: 0 });
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        places.pop();
        break;
      case 0x2c: // a comma
        if (place && !place.seen) place.index++;
        break;
    }
  }
  return found;
}
