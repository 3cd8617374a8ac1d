import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../api.ts";
import { ErrorMessage } from "./error-message.tsx";

export interface DialogProps {
  readonly title: string;
  /** The label of the confirm button. */
  readonly action: string;
  /** Performs the action. An error is shown, and the dialog stays open. */
  readonly onDo: (form: FormData) => Promise<void> | void;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
  /** A word or number that must be typed before something that cannot be taken back. */
  readonly typed?: string | undefined;
  readonly dangerous?: boolean;
}

/** Asks for confirmation. Its fields are those of a form; Escape cancels. */
export function Dialog({ title, action, onDo, onClose, children, typed, dangerous = false }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [word, setWord] = useState("");
  useLayoutEffect(() => box.current?.showModal(), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setError(undefined);
    try {
      await onDo(form);
      onClose();
    } catch (thrown) {
      setError(messageOf(thrown));
      setBusy(false);
    }
  };
  return (
    <dialog ref={box} class="dialog" aria-label={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 class="dialog-title">{title}</h2>
        {children}
        {typed !== undefined && (
          <label>
            <span>
              Type <b>{typed}</b> to confirm
            </span>
            <input value={word} autocomplete="off" onInput={(event) => setWord(event.currentTarget.value)} />
          </label>
        )}
        <ErrorMessage error={error} />
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={dangerous ? "danger" : "primary"}
            disabled={busy || (typed !== undefined && word.trim() !== typed)}
          >
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** The text of a field of a dialog; undefined if empty. */
export function typedIn(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** JSON that was typed into a field; throws with its place in words when it is none. */
export function jsonIn(form: FormData, name: string): unknown {
  const text = typedIn(form, name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`This is not JSON: ${messageOf(error)}`, { cause: error });
  }
}
