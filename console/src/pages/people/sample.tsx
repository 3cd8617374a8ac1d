import type { SampleHistoryResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { JsonView } from "../../parts/json.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { sampleTones } from "./sample-tones.ts";
import { percent } from "./shares.tsx";
import { shortValue } from "./short-value.ts";

export interface SampleDrawerProps {
  readonly id: string;
  readonly open: OpenDialog;
  readonly onClose: () => void;
  readonly onChanged: () => Promise<void>;
}

/** A sample with all that was done about it. */
export function SampleDrawer({ id, open, onClose, onChanged }: SampleDrawerProps) {
  const { answer: sample, error, again } = useRequest(() => get(`/samples/${part(id)}`), [id]);
  usePolling(again);
  const changed = async () => {
    await Promise.all([again(), onChanged()]);
  };
  return (
    <Drawer title={sample?.key ?? "Sample"} name="Sample" onClose={onClose} wide>
      <ErrorMessage error={error} />
      {sample !== undefined && (
        <>
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
          <h3>Content</h3>
          <JsonView value={sample.data} name="sample" />
          {sample.consensus !== null && sample.consensus !== undefined && (
            <>
              <h3>Agreed result</h3>
              <JsonView value={sample.consensus} name="consensus" />
            </>
          )}
          <History sample={sample} />
        </>
      )}
    </Drawer>
  );
}

function History({ sample }: { readonly sample: SampleHistoryResponse }) {
  return (
    <>
      <h3>Assignments and labels</h3>
      {sample.assignments.length === 0 && <p class="quiet">No assignments yet.</p>}
      {sample.assignments.map((one) => {
        const label = sample.labels.find((each) => each.assignmentId === one.id);
        return (
          <div key={one.id} class="said">
            <b>{one.labelerId}</b> <StatePill state={one.status.replace("_", " ")} tone="plain" />{" "}
            {label !== undefined && <code>{shortValue(label.value)}</code>}
            <div class="small quiet">
              <Time at={one.completedAt ?? one.skippedAt ?? one.expiredAt ?? one.startedAt ?? one.createdAt} />
              {one.skipReason !== null && `: ${one.skipReason}`}
              {label?.late === true && ", late"}
              {label?.review != null && `, ${label.review} by ${label.reviewedBy ?? "a lead"}`}
              {label?.comment != null && `: ${label.comment}`}
            </div>
          </div>
        );
      })}
    </>
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
