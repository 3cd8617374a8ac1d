import { useEffect, useRef } from "preact/hooks";
import { paused } from "./live.ts";

/**
 * Reloads every few seconds while the page is visible and not paused. The content stays on the page until the answer
 * comes, so that nothing flickers.
 */
export function usePolling(again: () => Promise<void>, everyMs = 3_000): void {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), everyMs);
    };
    const look = async () => {
      if (!document.hidden && !paused.value) await latest.current();
      if (!isOver) wait();
    };
    const seen = () => {
      if (!document.hidden) void look();
    };
    wait();
    document.addEventListener("visibilitychange", seen);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [everyMs]);
}
