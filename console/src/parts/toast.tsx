import { signal } from "@preact/signals";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "done" | "failed";
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Shows a message or an error for some seconds. */
export function showToast(text: string, kind: Toast["kind"] = "done"): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, kind }];
  setTimeout(() => dismiss(id), kind === "failed" ? 12_000 : 5_000);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** The place of messages; rendered once, in the shell. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`}>
          <span>{text}</span>
          <button type="button" class="bare" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
