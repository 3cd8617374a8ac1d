import type { ComponentChildren } from "preact";

/** Stands where a list would, and says what would be in it and how it comes there. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="quiet">{children}</div>}
    </div>
  );
}
