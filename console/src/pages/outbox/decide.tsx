import { post } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { showToast } from "../../parts/toast.tsx";

export interface DecideMessagesProps {
  readonly decision: "requeue" | "discard";
  readonly meant: { readonly id: readonly string[] } | { readonly type: string } | { readonly all: true };
  readonly onClose: () => void;
  readonly onDecided: () => Promise<void>;
}

/** Requeues or discards dead messages. */
export function DecideMessages({ decision, meant, onClose, onDecided }: DecideMessagesProps) {
  const isRequeue = decision === "requeue";
  const decide = async () => {
    const { messages } = await post(`/messages/${decision}`, meant);
    const what = messages === 1 ? "1 message is" : `${messages} messages are`;
    showToast(isRequeue ? `${what} requeued.` : `${what} discarded.`);
    await onDecided();
  };
  return (
    <Dialog
      title={isRequeue ? "Requeue messages" : "Discard messages"}
      action={isRequeue ? "Requeue" : "Discard"}
      dangerous={!isRequeue}
      onDo={decide}
      onClose={onClose}
    >
      <p>
        {"all" in meant
          ? "All dead messages"
          : "type" in meant
            ? `Dead messages of type ${meant.type}`
            : "This message"}
        :
      </p>
      <p>
        {isRequeue
          ? "they are retried in their original order."
          : "they are never sent, and the messages behind them are sent."}
      </p>
    </Dialog>
  );
}
