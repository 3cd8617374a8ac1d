import type { Context } from "../program.ts";
import type { Reached, ReachOptions } from "../transport/reach.ts";

/** Does some work with the Pawl of the settings. What that takes is loaded by commands that need it. */
export async function reached<T>(
  context: Context,
  work: (pawl: Reached) => Promise<T>,
  options: ReachOptions = {},
): Promise<T> {
  const { withPawl } = await import("../transport/with-pawl.ts");
  return withPawl(context, options, work);
}
