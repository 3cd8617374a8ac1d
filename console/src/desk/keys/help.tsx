import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { KeyHandler } from "./key-handler.ts";
import { actions, allBound, type Bound, digitIn, isFree, shownKey } from "./keys.ts";

/** The keys, and how to give another one to each. */
export function Help({ press, onClose }: { readonly press: KeyHandler; readonly onClose: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  const waiting = useSignal<Bound | undefined>(undefined);
  useEffect(() => box.current?.showModal(), []);
  const onKey = (event: KeyboardEvent) => {
    if (waiting.value === undefined || event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key !== "Escape") {
      if (!isFree(event.key)) return;
      press.rebind(waiting.value, event.key);
    }
    waiting.value = undefined;
  };
  return (
    <dialog ref={box} class="dialog" aria-label="Keys" onClose={onClose} onKeyDown={onKey}>
      <h2 class="dialog-title">Keys</h2>
      <p class="quiet">In a long text, Ctrl+Enter submits. Escape leaves a field, so that the keys work again.</p>
      <table class="keys">
        <tbody>
          {allBound.map((name) => (
            <tr key={name}>
              <td>{wordsFor(name)}</td>
              <td>
                <kbd>{waiting.value === name ? "Press a key …" : shownKey(press.keys.value[name])}</kbd>
              </td>
              <td>
                <button
                  type="button"
                  class="bare"
                  aria-label={`Change the key: ${wordsFor(name)}`}
                  onClick={() => (waiting.value = name)}
                >
                  Change
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <button type="button" onClick={() => press.reset()}>
          Default keys
        </button>
        <button type="button" class="primary" onClick={() => box.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function wordsFor(name: Bound): string {
  const digit = digitIn(name);
  return digit === undefined ? actions[name as keyof typeof actions] : `Choose answer ${digit}`;
}
