import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

export interface DrawerProps {
  readonly title: ComponentChildren;
  readonly name: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** For what needs room, such as a stack or a payload. */
  readonly wide?: boolean;
}

/** Shows details at the side of the page, which stays usable. Escape closes it. */
export function Drawer({ title, name, onClose, children, wide = false }: DrawerProps) {
  const close = useRef(onClose);
  close.current = onClose;
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && document.querySelector("dialog[open]") === null) close.current();
    };
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onKey);
      if (before instanceof HTMLElement || before instanceof SVGElement) before.focus();
    };
  }, []);
  return (
    <aside class={wide ? "drawer wide" : "drawer"} aria-label={name} ref={box} tabIndex={-1}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="bare" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </aside>
  );
}
