import type { ComponentChildren } from "preact";

/** Replaces an empty list, and says what it would contain and how to get there. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="quiet">{children}</div>}
    </div>
  );
}
