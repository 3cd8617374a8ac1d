import type { DecidedMessagesAnswer } from "../../../../src/http/contract.ts";
import { post } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { tell } from "../../parts/toast.tsx";

export interface DecideMessagesProps {
  readonly decision: "requeue" | "discard";
  readonly meant: { readonly id: readonly string[] } | { readonly type: string } | { readonly all: true };
  readonly onClose: () => void;
  readonly onDecided: () => Promise<void>;
}

/** Decides about messages that were given up: once more, or never. */
export function DecideMessages({ decision, meant, onClose, onDecided }: DecideMessagesProps) {
  const isRequeue = decision === "requeue";
  const decide = async () => {
    const { messages } = await post<DecidedMessagesAnswer>(`/messages/${decision}`, meant);
    const what = messages === 1 ? "1 message is" : `${messages} messages are`;
    tell(isRequeue ? `${what} sent once more.` : `${what} discarded.`);
    await onDecided();
  };
  return (
    <Dialog
      title={isRequeue ? "Send once more" : "Discard for good"}
      action={isRequeue ? "Requeue" : "Discard"}
      dangerous={!isRequeue}
      onDo={decide}
      onClose={onClose}
    >
      <p>
        {"all" in meant ? "All messages that were given up" : "type" in meant ? `Those of ${meant.type}` : "This one"}:
      </p>
      <p>
        {isRequeue
          ? "they are sent once more, each before what came after it."
          : "they are never sent, and what waits behind them goes on."}
      </p>
    </Dialog>
  );
}
