import { messageOf } from "../base/errors.ts";

/** Reports a listener that failed where there is no log: as a warning of the process. */
export function warnOfListener(name: string): (error: unknown) => void {
  return (error) => process.emitWarning(`The listener \`${name}\` failed: ${messageOf(error)}`, "PawlWarning");
}
