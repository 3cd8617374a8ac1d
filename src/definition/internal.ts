import { PawlError } from "../base/errors.ts";

/** Names that begin so are those of the lifecycles that Pawl itself brings; `createPawl` refuses them for any other. */
export const internalPrefix = "pawl_";

/** Whether a lifecycle is one of Pawl's own: samples, assignments, and those of crowds. */
export function isInternal(lifecycle: string): boolean {
  return lifecycle.startsWith(internalPrefix);
}

/**
 * Refuses to start or move an instance of Pawl's own from outside. The payloads of their events, their actors and the
 * rows that are written with them are checked by the methods of `pawl.people` and `pawl.crowd`, and by nothing behind
 * those.
 */
export function refuseInternal(lifecycle: string, verb: string): void {
  if (!isInternal(lifecycle)) return;
  throw new PawlError(
    "not_allowed",
    `\`${verb}\` cannot be used on \`${lifecycle}\`: it is one of Pawl's own lifecycles. Use the verbs of \`pawl.people\` and \`pawl.crowd\`.`,
    { lifecycle, verb },
  );
}
