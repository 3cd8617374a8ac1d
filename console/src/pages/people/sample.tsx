import { useEffect, useRef } from "preact/hooks";
import type { SampleHistoryResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { JsonView } from "../../parts/json.tsx";
import { Sample } from "../../parts/sample/sample.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { SampleLabels } from "./sample-labels.tsx";
import { sampleTones } from "./sample-tones.ts";
import { percent } from "./shares.tsx";

export interface SampleDrawerProps {
  readonly id: string;
  readonly open: OpenDialog;
  /** Whether a lead reviews every label of its queue. */
  readonly reviews: boolean;
  readonly place: { readonly at: number; readonly of: number; readonly more: boolean } | undefined;
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
  readonly onClose: () => void;
  readonly onChanged: () => Promise<void>;
}

/** A sample with all that was done about it. */
export function SampleDrawer({ id, open, reviews, place, onPrevious, onNext, onClose, onChanged }: SampleDrawerProps) {
  const { answer: sample, error, again } = useRequest(() => get(`/samples/${part(id)}`), [id]);
  usePolling(again);
  const changed = async () => {
    await Promise.all([again(), onChanged()]);
  };
  return (
    <Drawer title={sample?.key ?? "Sample"} name="Sample" onClose={onClose} wide>
      <Neighbours place={place} onPrevious={onPrevious} onNext={onNext} />
      <ErrorMessage error={error} />
      {sample !== undefined && (
        <>
          <div class="sample-shown">
            <Sample sample={sample} />
          </div>
          <SampleLabels sample={sample} reviews={reviews} open={open} onChanged={changed} />
          {sample.consensus !== null && sample.consensus !== undefined && (
            <>
              <h3>Agreed result</h3>
              <JsonView value={sample.consensus} name="the agreed result" />
            </>
          )}
          <h3>About</h3>
          {may("operate") && <Actions sample={sample} open={open} onChanged={changed} />}
          <Facts
            facts={[
              ["State", <StatePill key="state" state={sample.state} tone={sampleTones[sample.state]} />],
              ["Labels", `${sample.labeled} of ${sample.needs}, ${sample.held} assigned, ${sample.spare} tries left`],
              ["Agreement", percent(sample.agreement)],
              ["No result", sample.reason ?? undefined],
              ["Added", <Time key="added" at={sample.createdAt} />],
              ["Id", <Id key="id" id={sample.id} href={`/instances/${sample.id}`} />],
            ]}
          />
          <details class="carried">
            <summary>Content as JSON</summary>
            <JsonView value={sample.data} name="the content" />
          </details>
        </>
      )}
    </Drawer>
  );
}

/** The way to the samples before and after this one, also by keys. */
function Neighbours({ place, onPrevious, onNext }: Pick<SampleDrawerProps, "place" | "onPrevious" | "onNext">) {
  const latest = useRef({ onPrevious, onNext });
  latest.current = { onPrevious, onNext };
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (ctrlKey || metaKey || altKey || document.querySelector("dialog[open]") !== null) return;
      if (target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      if (key === "j") latest.current.onNext?.();
      if (key === "k") latest.current.onPrevious?.();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  if (place === undefined) return null;
  return (
    <div class="row-actions">
      <button type="button" disabled={onPrevious === undefined} onClick={onPrevious}>
        Previous <kbd>K</kbd>
      </button>
      <button type="button" disabled={onNext === undefined} onClick={onNext}>
        Next <kbd>J</kbd>
      </button>
      <span class="quiet number small">
        {place.at} of {place.of}
        {place.more && "+"}
      </span>
    </div>
  );
}

interface ActionsProps {
  readonly sample: SampleHistoryResponse;
  readonly open: OpenDialog;
  readonly onChanged: () => Promise<void>;
}

function Actions({ sample, open, onChanged }: ActionsProps) {
  const path = `/samples/${part(sample.id)}` as const;
  const reopen = () =>
    open((close) => (
      <AskReason
        title="Reopen the sample"
        action="Reopen"
        said="Sample reopened."
        onDo={async (reason, form) => {
          await post(`${path}/reopen`, { reason, attempts: Number(form.get("attempts")) });
          await onChanged();
        }}
        onClose={close}
      >
        <label>
          Additional tries
          <input name="attempts" type="number" min="1" max="100" defaultValue="1" required />
        </label>
      </AskReason>
    ));
  const closeIt = () =>
    open((close) => (
      <AskReason
        title="Close the sample"
        action="Close sample"
        dangerous
        said="Sample closed."
        onDo={async (reason) => {
          await post(`${path}/close`, { reason });
          await onChanged();
        }}
        onClose={close}
      >
        <p>This cannot be undone. Open assignments of it end.</p>
      </AskReason>
    ));
  const isGivenUp = sample.state === "exhausted" || sample.state === "unassignable";
  if (sample.state === "closed" || sample.state === "agreed") return null;
  return (
    <div class="row-actions">
      {isGivenUp && (
        <button type="button" onClick={reopen}>
          Reopen…
        </button>
      )}
      <button type="button" onClick={closeIt}>
        Close…
      </button>
    </div>
  );
}
