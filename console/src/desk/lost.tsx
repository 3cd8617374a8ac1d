import { copy } from "../copy.ts";
import { hasSomething, labelOf } from "./form/entered.ts";
import type { Labeling } from "./labeling.ts";

const told: Readonly<Record<string, string>> = {
  expired: "Its time is over, or a lead took it back. Somebody else may have it now.",
  completed: "It was handed in already, perhaps in another window.",
  skipped: "It was skipped already, perhaps in another window.",
};

/** Says that what was in hand is not any more. What was entered stays on the page. */
export function Lost({ labeling }: { readonly labeling: Labeling }) {
  const { phase, lostAs, entered, form } = labeling;
  if (phase.value !== "lost") return null;
  const isExpired = lostAs.value === "expired";
  const copyAll = () => {
    const { label, faults } = labelOf(form.value, entered.value);
    void copy(JSON.stringify(faults.length === 0 ? label : entered.value, undefined, 2), "Your answer is copied");
  };
  return (
    <div class="note bad" role="alert">
      <b>This one is not in your hands any more.</b>
      <p>{told[lostAs.value ?? ""] ?? told.expired}</p>
      {isExpired && hasSomething(entered.value) && (
        <p>What you entered is still here. Handed in now, it is kept as late, and counts if a lead accepts it.</p>
      )}
      <div class="note-actions">
        <button type="button" class="primary" onClick={() => void labeling.goOn()}>
          Next one
        </button>
        {isExpired && (
          <button type="button" onClick={() => void labeling.submit()}>
            Hand in late
          </button>
        )}
        <button type="button" onClick={copyAll}>
          Copy what you entered
        </button>
      </div>
    </div>
  );
}
