/** Patterns with `*`, as people write them for names of classes, files and images. */

/** Whether a text is what a pattern describes; `*` stands for anything, also for nothing. Takes no longer for odd patterns. */
export function matchesGlob(pattern: string, text: string): boolean {
  let [at, in_] = [0, 0];
  let [star, resume] = [-1, 0];
  while (in_ < text.length) {
    if (pattern[at] === "*") {
      star = at++;
      resume = in_;
    } else if (pattern[at] === text[in_]) {
      at++;
      in_++;
    } else if (star !== -1) {
      // The last star takes one more character, and the rest is tried again.
      at = star + 1;
      in_ = ++resume;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
