import { copy } from "../copy.ts";
import { hasSomething, labelOf } from "./form/form-values.ts";
import type { Labeling } from "./labeling.ts";

const messages: Readonly<Record<string, string>> = {
  expired: "Its time expired, or a lead revoked it. Another labeler may have it now.",
  completed: "It was already submitted, perhaps in another window.",
  skipped: "It was already skipped, perhaps in another window.",
};

/** Shows that the assignment is lost. The input stays on the page. */
export function AssignmentLost({ labeling }: { readonly labeling: Labeling }) {
  const { phase, lostAs, entered, form } = labeling;
  if (phase.value !== "lost") return null;
  const isExpired = lostAs.value === "expired";
  const copyAll = () => {
    const { label, faults } = labelOf(form.value, entered.value);
    void copy(JSON.stringify(faults.length === 0 ? label : entered.value, undefined, 2), "Answer copied");
  };
  return (
    <div class="note bad" role="alert">
      <b>This sample is no longer assigned to you.</b>
      <p>{messages[lostAs.value ?? ""] ?? messages.expired}</p>
      {isExpired && hasSomething(entered.value) && (
        <p>Your input is still here. If you submit it now, it is kept as late, and used if a lead accepts it.</p>
      )}
      <div class="note-actions">
        <button type="button" class="primary" onClick={() => void labeling.goOn()}>
          Next sample
        </button>
        {isExpired && (
          <button type="button" onClick={() => void labeling.submit()}>
            Submit late
          </button>
        )}
        <button type="button" onClick={copyAll}>
          Copy your input
        </button>
      </div>
    </div>
  );
}
