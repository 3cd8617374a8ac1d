import { exitCodes } from "../show/failure.ts";

/** The first signal closes it in order; a second one ends the process at once, which loses nothing either. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(exitCodes.interrupted);
        stopping = true;
        resolve(signal);
      });
    }
  });
}
