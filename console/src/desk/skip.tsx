import { Dialog, typedIn } from "../parts/dialog.tsx";
import type { Labeling } from "./labeling.ts";

/** Asks for the reason of a skip. */
export function Skip({ labeling, onClose }: { readonly labeling: Labeling; readonly onClose: () => void }) {
  const needsReason = labeling.queue.value?.skipRequiresReason ?? false;
  return (
    <Dialog
      title="Skip this sample"
      action="Skip"
      onDo={(form) => labeling.skip(typedIn(form, "reason"))}
      onClose={onClose}
    >
      <p class="quiet">Another labeler may get it. You will not see it again.</p>
      <label>
        <span>Why{needsReason ? "" : " (optional)"}</span>
        <input name="reason" required={needsReason} maxLength={500} autocomplete="off" />
      </label>
    </Dialog>
  );
}
