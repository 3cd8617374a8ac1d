import { PawlError } from "../../base/errors.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { Kernel } from "../kernel.ts";

export interface WaitOptions {
  readonly read: () => Promise<InstanceRow | undefined>;
  readonly missing: () => PawlError;
  /** Undefined: until it has ended. */
  readonly until: ReadonlySet<string> | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const firstPollMs = 20;
const lastPollMs = 1_000;

/**
 * Waits for a state. Moves of this process wake it at once, those of others by notification; it also polls, less and
 * less often.
 */
export async function waitFor(kernel: Kernel, waiting: WaitOptions): Promise<InstanceRow> {
  const endAt = performance.now() + waiting.timeoutMs;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, lastPollMs)) {
    waiting.signal?.throwIfAborted();
    const row = await waiting.read();
    if (row === undefined) throw waiting.missing();
    if (waiting.until === undefined ? row.outcome !== null : waiting.until.has(row.state)) return row;
    const wanted =
      waiting.until === undefined ? "its end" : [...waiting.until].map((state) => `\`${state}\``).join(" or ");
    if (row.outcome !== null) {
      throw new PawlError(
        "wait_ended_in_other_state",
        `\`${row.lifecycle}\` ${row.key ?? row.id} has ended in \`${row.state}\` and will not reach ${wanted}.`,
        { state: row.state },
      );
    }
    const leftMs = endAt - performance.now();
    if (leftMs <= 0) {
      throw new PawlError(
        "wait_timeout",
        `Timed out waiting for \`${row.lifecycle}\` ${row.key ?? row.id} to reach ${wanted}; it is in \`${row.state}\`.`,
        { state: row.state },
      );
    }
    kernel.notifier?.listen();
    await untilHinted(kernel, row.id, Math.min(pollMs, leftMs), waiting.signal);
  }
}

function untilHinted(kernel: Kernel, id: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      forget();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const forget = kernel.signals.wait(id, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
