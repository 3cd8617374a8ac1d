import { showToast } from "./parts/toast.tsx";

/** Copies a text to the clipboard, and shows a message. */
export async function copy(text: string, what = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(what);
  } catch {
    showToast("This browser does not allow copying.", "failed");
  }
}

/** Lets the browser save a text as a file. */
export function save(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
