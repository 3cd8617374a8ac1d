import type { Listener } from "./listener.ts";

/**
 * Asks the application again whether the readers of open streams still have access: once per interval and credential,
 * for any number of streams. Nothing waits for the answer, so an `authenticate` that hangs delays no stream.
 */
export class Reauthentication {
  readonly #intervalMs: number;
  /** When each credential that has a stream was last known to the application, by `performance.now()`. */
  readonly #knownAt = new Map<string, number>();
  readonly #asking = new Set<string>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** A stream was opened: the application has just authenticated its credential. */
  opened({ visit }: Listener): void {
    if (visit.application !== undefined) this.#knownAt.set(visit.application.credential, performance.now());
  }

  /** Begins the checks that are due. A stream ends when the application no longer knows its reader, or fails to answer. */
  check(listeners: ReadonlySet<Listener>): void {
    const now = performance.now();
    const open = new Set<string>();
    for (const { visit } of listeners) {
      const { application } = visit;
      if (application === undefined || open.has(application.credential)) continue;
      const { credential, isKnown } = application;
      open.add(credential);
      const isDue = now - (this.#knownAt.get(credential) ?? 0) >= this.#intervalMs;
      if (!isDue || this.#asking.has(credential)) continue;
      this.#asking.add(credential);
      void isKnown()
        .catch(() => false)
        .then((known) => {
          this.#asking.delete(credential);
          if (known) this.#knownAt.set(credential, performance.now());
          else for (const one of listeners) if (one.visit.application?.credential === credential) one.end();
        });
    }
    for (const credential of this.#knownAt.keys()) if (!open.has(credential)) this.#knownAt.delete(credential);
  }
}
