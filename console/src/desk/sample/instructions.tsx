import type { Signal } from "@preact/signals";
import type { Labeling } from "../labeling.ts";

/** The instructions of the queue; for a correction, also the reviewer's comment. */
export function Instructions({ labeling, open }: { readonly labeling: Labeling; readonly open: Signal<boolean> }) {
  const { queue, form, given } = labeling;
  const text = queue.value?.instructions ?? form.value.description;
  const revises = given.value?.revises ?? null;
  return (
    <>
      {revises !== null && (
        <div class="note warn" role="note">
          <b>{revises.reviewedBy ?? "A lead"} returned it for correction.</b>
          {revises.comment !== null && <p>{revises.comment}</p>}
          <p class="quiet">Your previous answer is filled in.</p>
        </div>
      )}
      {text !== undefined && text !== null && (
        <details
          class="instructions"
          open={open.value}
          onToggle={(event) => {
            open.value = event.currentTarget.open;
          }}
        >
          <summary>Instructions</summary>
          <div class="plain">{text}</div>
        </details>
      )}
    </>
  );
}
