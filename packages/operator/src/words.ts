/** The first few of a list, for messages: people read them, and objects have room for so much. */
export function someOf<T>(list: readonly T[], say: (each: T) => string = String): string {
  const shown = list.slice(0, 5).map(say).join(", ");
  return list.length > 5 ? `${shown} and ${list.length - 5} more` : shown;
}
