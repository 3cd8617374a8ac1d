import { Interrupted } from "./failure.ts";
import type { Context } from "./program.ts";
import { type Reached, type ReachOptions, reach } from "./reach.ts";
import { loadSettings } from "./settings.ts";

/** Does some work with the Pawl of the settings, then lets go of it; Ctrl-C ends the work, not the manners. */
export async function withPawl<T>(
  context: Context,
  options: ReachOptions,
  work: (pawl: Reached) => Promise<T>,
): Promise<T> {
  const onWarning = (text: string) => context.terminal.note(text);
  const pawl = await reach(await loadSettings(context.flags, context.env, context.cwd), { onWarning, ...options });
  let interrupt = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = () => reject(new Interrupted());
  });
  process.once("SIGINT", interrupt);
  try {
    return await Promise.race([work(pawl), interrupted]);
  } finally {
    process.off("SIGINT", interrupt);
    await pawl.close();
  }
}
