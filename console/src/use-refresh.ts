import { useEffect, useRef } from "preact/hooks";
import { counts, liveness } from "./live.ts";

const soonestMs = 2_000;
const latestMs = 10_000;

/**
 * Reloads when something has moved, at most every two seconds, and at longer intervals in any case; never while the
 * page is paused or hidden.
 */
export function useRefresh(again: () => Promise<void>): void {
  const ask = useRef(again);
  ask.current = again;
  useEffect(() => {
    let seen = counts.peek();
    let lastMs = Date.now();
    const timer = setInterval(() => {
      if (liveness.peek() !== "live" || document.hidden) return;
      const sinceMs = Date.now() - lastMs;
      if (sinceMs < (counts.peek() === seen ? latestMs : soonestMs)) return;
      seen = counts.peek();
      lastMs = Date.now();
      void ask.current();
    }, 500);
    return () => clearInterval(timer);
  }, []);
}
