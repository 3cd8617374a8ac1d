import type { Labeling } from "./labeling.ts";
import { waitingOf } from "./queue-list.tsx";
import { lasting } from "./times.ts";

const draftWords = {
  none: "",
  waiting: "Draft not saved yet",
  kept: "Draft saved",
  failed: "Could not save the draft",
} as const;

/** The statistics of today: labels, open work, speed. */
export function Footer({ labeling }: { readonly labeling: Labeling }) {
  const { queue, drafts, phase } = labeling;
  const { done, skipped, medianSeconds } = queue.value ?? { done: 0, skipped: 0, medianSeconds: null };
  if (queue.value === undefined) return <footer class="desk-foot" />;
  return (
    <footer class="desk-foot number">
      <span aria-live="polite">
        <b>{done}</b> today
      </span>
      {skipped > 0 && <span class="quiet">{skipped} skipped</span>}
      <span>{waitingOf(queue.value)}</span>
      {medianSeconds !== null && <span class="quiet">{lasting(medianSeconds)} each</span>}
      <span class="grow" />
      <span class={drafts.state.value === "failed" ? "error" : "quiet"}>
        {phase.value === "working" ? draftWords[drafts.state.value] : ""}
      </span>
    </footer>
  );
}
