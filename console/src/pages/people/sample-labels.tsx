import type { SampleHistoryResponse } from "../../../../src/http/contract.ts";
import type { OpenDialog } from "../../dialogs.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { canDecide, DecideLabel } from "./decide-label.tsx";
import { compareLabels } from "./label-comparison.ts";

export interface SampleLabelsProps {
  readonly sample: SampleHistoryResponse;
  /** Whether a lead reviews every label of its queue. */
  readonly reviews: boolean;
  readonly open: OpenDialog;
  readonly onChanged: () => Promise<void>;
}

type Label = SampleHistoryResponse["labels"][number];

/** The labels of a sample side by side, with their differences marked, and the assignments without a label. */
export function SampleLabels({ sample, reviews, open, onChanged }: SampleLabelsProps) {
  const { labels } = sample;
  const without = sample.assignments.filter(({ id }) => !labels.some(({ assignmentId }) => assignmentId === id));
  const counts = ({ review, late }: Label) => review !== "rejected" && (!late || review === "accepted");
  const fields = compareLabels(labels.map((label) => ({ value: label.value, counts: counts(label) })));
  const differing = fields.filter(({ differs }) => differs).length;
  const decide = (label: Label, decision: "accept" | "reject") =>
    open((close) => <DecideLabel label={label} decision={decision} onClose={close} onDecided={onChanged} />);
  return (
    <>
      <h3>
        Labels{" "}
        {labels.length > 1 && (
          <span class={differing > 0 ? "warning" : undefined}>
            {differing === 0 ? "all agree" : `${differing} of ${fields.length} fields differ`}
          </span>
        )}
      </h3>
      {labels.length === 0 && <p class="quiet">No labels yet.</p>}
      {labels.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by the keyboard.
        <section class="table-scroll compared" tabIndex={0} aria-label="Labels side by side">
          <table>
            <thead>
              <tr>
                <th>Field</th>
                {labels.map((label) => (
                  <th key={label.id}>{label.labelerId}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {fields.map(({ name, values, differs }) => (
                <tr key={name} class={differs ? "differs" : undefined}>
                  <th scope="row">
                    {name}
                    {differs && <span class="hidden"> differs</span>}
                  </th>
                  {values.map((value, at) => (
                    <td key={labels[at]!.id} class={counts(labels[at]!) ? undefined : "quiet"}>
                      {value === "" ? <span class="quiet">–</span> : value}
                    </td>
                  ))}
                </tr>
              ))}
              <tr>
                <th scope="row">Review</th>
                {labels.map((label) => (
                  <td key={label.id}>
                    <Review label={label} />
                    {may("operate") && (
                      <Buttons label={label} reviews={reviews} onDecide={(decision) => decide(label, decision)} />
                    )}
                  </td>
                ))}
              </tr>
            </tbody>
          </table>
        </section>
      )}
      {without.map((one) => (
        <div key={one.id} class="said">
          <b>{one.labelerId}</b> <StatePill state={one.status.replace("_", " ")} tone="plain" />{" "}
          <span class="small quiet">
            <Time at={one.skippedAt ?? one.expiredAt ?? one.startedAt ?? one.createdAt} />
            {one.skipReason !== null && `: ${one.skipReason}`}
          </span>
        </div>
      ))}
    </>
  );
}

function Review({ label }: { readonly label: Label }) {
  const { review, late, comment, reviewedBy, at } = label;
  return (
    <div class="small">
      <Time at={at} /> {late && <StatePill state="late" tone="warn" />}{" "}
      {review !== null && <StatePill state={review} tone={review === "accepted" ? "good" : "bad"} />}
      {review !== null && <span class="quiet"> by {reviewedBy ?? "a lead"}</span>}
      {comment !== null && <div>{comment}</div>}
    </div>
  );
}

interface ButtonsProps {
  readonly label: Label;
  readonly reviews: boolean;
  readonly onDecide: (decision: "accept" | "reject") => void;
}

function Buttons({ label, reviews, onDecide }: ButtonsProps) {
  const can = canDecide(label, reviews);
  if (!can.accept && !can.reject) return null;
  return (
    <div class="row-actions">
      {can.accept && (
        <button type="button" aria-label={`Accept ${label.labelerId}`} onClick={() => onDecide("accept")}>
          Accept…
        </button>
      )}
      {can.reject && (
        <button type="button" aria-label={`Reject ${label.labelerId}`} onClick={() => onDecide("reject")}>
          Reject…
        </button>
      )}
    </div>
  );
}
