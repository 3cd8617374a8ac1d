import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import type { PreviewResponse } from "../../../../src/http/contract.ts";
import { post } from "../../api.ts";
import { Dialog, typedIn } from "../../parts/dialog.tsx";
import { ReasonField } from "../../parts/dialog-fields.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { count } from "../../parts/tile.tsx";
import { showToast } from "../../parts/toast.tsx";
import { useRequest } from "../../use-request.ts";
import { filterQuery, inWords, type LetterFilter } from "./letter-filter.ts";

/** Above this number, it has to be typed to confirm. */
const manyLetters = 1_000;

export interface DecideManyProps {
  readonly decision: "requeue" | "discard";
  readonly which: LetterFilter;
  readonly onClose: () => void;
}

const words = {
  requeue: { title: "Requeue dead letters", action: "Requeue", does: "retried" },
  discard: { title: "Discard dead letters", action: "Discard", does: "discarded" },
} as const;

/** Previews a bulk decision, and starts the operation. */
export function DecideMany({ decision, which, onClose }: DecideManyProps) {
  const [, go] = useLocation();
  const [restart, setRestart] = useState(false);
  const { answer, error } = useRequest(
    () => post("/dead-letters/preview", { decision, ...filterQuery(which), ...(restart && { restart }) }),
    [restart],
  );
  const { title, action, does } = words[decision];
  const begin = async (form: FormData) => {
    if (answer === undefined) throw new Error("Wait for the preview.");
    const rate = typedIn(form, "rate");
    const begun = await post(`/dead-letters/${decision}`, {
      ...filterQuery(which),
      ...(restart && { restart }),
      ...(rate !== undefined && { rate: Number(rate) }),
      reason: typedIn(form, "reason"),
    });
    showToast(`Operation started: ${count(begun.items)} dead letters will be ${does}.`);
    go(`/operations?operation=${begun.id}`);
  };
  return (
    <Dialog
      title={title}
      action={answer === undefined ? action : `${action} ${count(answer.letters)}`}
      dangerous={decision === "discard"}
      typed={answer !== undefined && answer.letters > manyLetters ? String(answer.letters) : undefined}
      onDo={begin}
      onClose={onClose}
    >
      <p>Which: {inWords({ ...which })}.</p>
      <ErrorMessage error={error} />
      <Preview answer={answer} does={does} />
      {decision === "requeue" && (
        <label class="inline">
          <input type="checkbox" checked={restart} onChange={(event) => setRestart(event.currentTarget.checked)} />
          Start over instead of resuming where each failed
        </label>
      )}
      <label>
        <span>
          Maximum per second <span class="quiet">(optional)</span>
        </span>
        <input name="rate" type="number" min="0.01" step="any" placeholder="no limit" />
      </label>
      <ReasonField />
    </Dialog>
  );
}

function Preview({ answer, does }: { readonly answer: PreviewResponse | undefined; readonly does: string }) {
  if (answer === undefined) return <p class="quiet">Loading the preview…</p>;
  const good = answer.outcomes.requeued ?? answer.outcomes.discarded ?? 0;
  const others = Object.entries(answer.outcomes).filter(
    ([outcome]) => outcome !== "requeued" && outcome !== "discarded",
  );
  return (
    <div class="said">
      <p>
        <b>{count(good)}</b> of {count(answer.letters)} would be {does}.
      </p>
      {others.map(([outcome, letters]) => (
        <p key={outcome} class="warning">
          {count(letters)} would not: {outcome}
          {noteOf(answer, outcome)}
        </p>
      ))}
    </div>
  );
}

function noteOf({ sample }: PreviewResponse, outcome: string): string {
  const note = sample.find((one) => one.outcome === outcome)?.note;
  return note === null || note === undefined ? "" : `. ${note}`;
}
