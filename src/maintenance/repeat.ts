import { timerMs } from "../base/duration.ts";

export interface Repeated {
  /** Waits for the round under way, and begins no other. */
  stop(): Promise<void>;
}

/**
 * Repeats a round, one at a time, until it is stopped, the first after `firstMs`. A round returns the pause after it;
 * after a failed one it is `restMs`. It keeps no process alive.
 */
export function repeat(
  round: () => Promise<number>,
  {
    restMs,
    firstMs = 0,
    onFailure,
    onStopped = () => {},
  }: {
    restMs: number;
    firstMs?: number;
    onFailure: (error: unknown) => void;
    onStopped?: (() => void) | undefined;
  },
): Repeated {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();
  const once = async (): Promise<void> => {
    let nextMs = restMs;
    try {
      nextMs = await round();
    } catch (error) {
      if (!stopped) onFailure(error);
    }
    if (!stopped) begin(nextMs);
  };
  const begin = (afterMs: number): void => {
    timer = setTimeout(() => {
      underWay = once();
    }, timerMs(afterMs));
    timer.unref();
  };
  begin(firstMs);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
      onStopped();
    },
  };
}
