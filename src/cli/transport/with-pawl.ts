import { once } from "node:events";
import type { Context } from "../program.ts";
import { loadSettings, remoteOf } from "../project/settings.ts";
import { Interrupted } from "../show/failure.ts";
import { callOver, overUrl } from "./client.ts";
import { type Reached, type ReachOptions, reach } from "./reach.ts";

/** Runs work with the Pawl of the settings, then closes it; Ctrl-C aborts the work, and Pawl still closes in order. */
export async function withPawl<T>(
  context: Context,
  options: ReachOptions,
  work: (pawl: Reached) => Promise<T>,
): Promise<T> {
  const onWarning = (text: string) => context.terminal.note(text);
  const remote = remoteOf(context.flags, context.env);
  const pawl =
    remote === undefined
      ? await reach(await loadSettings(context.flags, context.env, context.cwd), { onWarning, ...options })
      : { pid: undefined, call: callOver(overUrl(remote.url, remote.token)), close: async () => {} };
  const listening = new AbortController();
  const interrupted = once(process, "SIGINT", listening).then(() => {
    throw new Interrupted();
  });
  try {
    return await Promise.race([work(pawl), interrupted]);
  } finally {
    interrupted.catch(() => {});
    listening.abort();
    await pawl.close();
  }
}
