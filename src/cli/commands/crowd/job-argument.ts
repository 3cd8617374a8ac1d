/** How a command line names a crowd job. */
export const jobMeant = "its id, or its crowd and key: receipts/r-42";

/** Which job is meant. An id has no slash in it, and neither has the name of a crowd. */
export function jobArgs(text: string): { readonly id: string } | { readonly crowd: string; readonly key: string } {
  const slash = text.indexOf("/");
  return slash === -1 ? { id: text } : { crowd: text.slice(0, slash), key: text.slice(slash + 1) };
}
