import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "wouter-preact";

/** What a screen reader says after a change of the page. */
export const announcement = signal("");

const content = () => document.getElementById("content");

/** Moves the focus into the page, past the navigation. */
export function focusContent(): void {
  content()?.focus({ preventScroll: true });
}

/**
 * Names the window after the heading of its page. After a change of the page, the focus is in its content and its
 * heading is announced: without that, a reader who does not see the page would stay at a link that is gone.
 */
export function usePageChange(): void {
  const [path] = useLocation();
  const opened = useRef(path);
  useEffect(() => {
    const isChange = opened.current !== path;
    opened.current = path;
    if (isChange) {
      window.scrollTo(0, 0);
      focusContent();
    }
    let said: string | undefined;
    const name = () => {
      const heading = content()?.querySelector("h1")?.textContent ?? "";
      const title = heading === "" ? "Pawl" : `${short(heading)} · Pawl`;
      if (document.title !== title) document.title = title;
      if (!isChange || heading === "" || heading === said) return;
      said = heading;
      announcement.value = `${short(heading)}, page`;
    };
    name();
    // The heading of a page may come with its code or its data, and change with them.
    const changes = new MutationObserver(name);
    changes.observe(content()!, { childList: true, subtree: true, characterData: true });
    return () => changes.disconnect();
  }, [path]);
}

function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
