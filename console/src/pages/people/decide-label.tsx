import type { LabelResponse } from "../../../../src/http/contract.ts";
import { part, post } from "../../api.ts";
import { AskReason } from "../../dialogs.tsx";
import { shortValue } from "./short-value.ts";

/** Whether a lead decides about a label: in a queue with review, and in every queue if it came late. */
export function canDecide(label: Pick<LabelResponse, "late" | "review">, reviews: boolean) {
  const isOpen = reviews || label.late;
  return { accept: isOpen && label.review === null, reject: isOpen && label.review !== "rejected" };
}

export interface DecideLabelProps {
  readonly label: LabelResponse;
  readonly decision: "accept" | "reject";
  readonly onClose: () => void;
  readonly onDecided: () => Promise<void>;
}

/** Asks a lead for a comment on an accepted or rejected label. */
export function DecideLabel({ label, decision, onClose, onDecided }: DecideLabelProps) {
  const isAccept = decision === "accept";
  return (
    <AskReason
      title={isAccept ? "Accept this label" : "Reject this label"}
      action={isAccept ? "Accept" : "Reject"}
      dangerous={!isAccept}
      label="Comment"
      said={isAccept ? "Label accepted." : "Label rejected."}
      onDo={async (comment) => {
        await post(`/labels/${part(label.id)}/${decision}`, { comment });
        await onDecided();
      }}
      onClose={onClose}
    >
      <p>
        <b>{label.labelerId}</b> said <code>{shortValue(label.value)}</code>
      </p>
      {!isAccept && <p>The label is not used, and its labeler gets the sample again.</p>}
      {isAccept && label.late && <p>It arrived late. It takes an open slot of its sample and is used from then on.</p>}
    </AskReason>
  );
}
