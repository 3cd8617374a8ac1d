import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { Dialog, typedIn } from "./parts/dialog.tsx";
import { ReasonField } from "./parts/dialog-fields.tsx";
import { showToast } from "./parts/toast.tsx";

/** Opens a dialog; the argument renders it, and gets a function to close it. */
export type OpenDialog = (dialog: (close: () => void) => VNode) => void;

/** The dialog of a page, and a function to open one. A dialog may open the next: it closes only itself. */
export function useDialog(): [dialog: VNode | null, open: OpenDialog] {
  type Make = (close: () => void) => VNode;
  const [make, setMake] = useState<Make>();
  const close = () => setMake((now: Make | undefined) => (now === make ? undefined : now));
  return [make === undefined ? null : make(close), (dialog) => setMake(() => dialog)];
}

export interface AskReasonProps {
  readonly title: string;
  readonly action: string;
  /** The consequence, in a sentence. */
  readonly children?: ComponentChildren;
  /** It cannot be done without a reason. */
  readonly needed?: boolean;
  readonly dangerous?: boolean;
  /** The label of the reason, such as `Comment`. */
  readonly label?: string;
  readonly onDo: (reason: string | undefined, form: FormData) => Promise<unknown>;
  /** The message after the action. */
  readonly said: string;
  readonly onClose: () => void;
}

/** Asks for a reason before an action that others will want to understand. */
export function AskReason({ needed, label, onDo, said, children, ...dialog }: AskReasonProps) {
  const submit = async (form: FormData) => {
    await onDo(typedIn(form, "reason"), form);
    showToast(said);
  };
  return (
    <Dialog {...dialog} onDo={submit}>
      {children}
      <ReasonField needed={needed} label={label} />
    </Dialog>
  );
}
