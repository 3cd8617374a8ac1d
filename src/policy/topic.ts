/**
 * Whether a name such as `grading.request` matches a pattern: `*` is one word between dots, `#` any number of them, as
 * in the topics of AMQP.
 */
export function matchesTopic(pattern: string, name: string): boolean {
  return matchesWords(pattern.split("."), 0, name.split("."), 0);
}

function matchesWords(pattern: readonly string[], at: number, words: readonly string[], from: number): boolean {
  if (at === pattern.length) return from === words.length;
  if (pattern[at] === "#") {
    for (let next = from; next <= words.length; next++) if (matchesWords(pattern, at + 1, words, next)) return true;
    return false;
  }
  if (from === words.length || (pattern[at] !== "*" && pattern[at] !== words[from])) return false;
  return matchesWords(pattern, at + 1, words, from + 1);
}
