import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface MenuProps {
  /** The content of the button. */
  readonly label: ComponentChildren;
  /** Its name if the button shows only an icon. */
  readonly name?: string;
  readonly children: ComponentChildren;
  /** It stays open when something in it is pressed, as a list of choices does. */
  readonly stays?: boolean;
}

/** A button that opens a small list. It closes by Escape, by pressing elsewhere, and when something in it was chosen. */
export function Menu({ label, name, children, stays = false }: MenuProps) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const open = box.current;
      if (open === null || !open.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== "Escape") return;
        open.open = false;
        open.querySelector("summary")?.focus();
      } else if (!open.contains(event.target as Node)) open.open = false;
    };
    document.addEventListener("keydown", close);
    document.addEventListener("pointerdown", close);
    return () => {
      document.removeEventListener("keydown", close);
      document.removeEventListener("pointerdown", close);
    };
  }, []);
  const chosen = (event: MouseEvent) => {
    if (!stays && (event.target as Element).closest("button, a") !== null) box.current!.open = false;
  };
  const hasWords = typeof label === "string";
  return (
    <details class="menu" ref={box}>
      <summary aria-label={hasWords ? undefined : name} title={name} class={hasWords ? "button" : undefined}>
        {label}
      </summary>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: it only handles the events of its buttons. */}
      <div class="menu-list" onClick={chosen}>
        {children}
      </div>
    </details>
  );
}
