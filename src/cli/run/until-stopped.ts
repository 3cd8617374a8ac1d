import { exitCodes } from "../show/failure.ts";

/** The first signal lets it close in order; a second one ends it on the spot, which loses nothing either. */
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
