import type { SubmissionResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { typedIn } from "../../parts/dialog.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { JsonView } from "../../parts/json.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { runAction } from "../../run-action.ts";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { submissionTones } from "./submission-tones.ts";

export interface SubmissionDrawerProps {
  readonly id: string;
  readonly paysBonuses: boolean;
  readonly open: OpenDialog;
  readonly onClose: () => void;
  readonly onDecided: () => Promise<void>;
}

/** One submission, and its decision. */
export function SubmissionDrawer({ id, paysBonuses, open, onClose, onDecided }: SubmissionDrawerProps) {
  const { answer: one, error, again } = useRequest(() => get(`/submissions/${part(id)}`), [id]);
  usePolling(again);
  const changed = async () => {
    await Promise.all([again(), onDecided()]);
  };
  return (
    <Drawer title="Submission" name="Submission" onClose={onClose} wide>
      <ErrorMessage error={error} />
      {one !== undefined && (
        <>
          {may("operate") && <Actions one={one} paysBonuses={paysBonuses} open={open} onChanged={changed} />}
          <Facts
            facts={[
              [
                "State",
                <StatePill key="state" state={one.state.replace("_", " ")} tone={submissionTones[one.state]} />,
              ],
              ["Worker", <Id key="worker" id={one.worker} whole />],
              ["Submitted", <Time key="at" at={one.submittedAt} />],
              ["Problem", one.problem ?? undefined],
              [
                "Conflict",
                one.conflict === null
                  ? undefined
                  : `Pawl decided ${one.conflict.wanted}, the marketplace has ${one.conflict.found}`,
              ],
              ["Feedback", one.feedback ?? undefined],
              ["Decided by", one.auto ? "the marketplace, before Pawl" : undefined],
              ["Posting", <Id key="posting" id={one.posting} />],
              ["Id", <Id key="id" id={one.id} href={`/instances/${one.id}`} />],
            ]}
          />
          {one.label !== null && (
            <>
              <h3>Label</h3>
              <JsonView value={one.label} name="label" />
            </>
          )}
          <h3>Raw answer</h3>
          <JsonView value={one.answer} name="answer" />
        </>
      )}
    </Drawer>
  );
}

interface ActionsProps {
  readonly one: SubmissionResponse;
  readonly paysBonuses: boolean;
  readonly open: OpenDialog;
  readonly onChanged: () => Promise<void>;
}

function Actions({ one, paysBonuses, open, onChanged }: ActionsProps) {
  const path = `/submissions/${part(one.id)}` as const;
  const decide = (decision: "approve" | "reject") =>
    open((close) => (
      <AskReason
        title={decision === "approve" ? "Approve this submission" : "Reject this submission"}
        action={decision === "approve" ? "Approve" : "Reject"}
        needed={decision === "reject"}
        dangerous={decision === "reject"}
        label="Message to the worker"
        said={
          decision === "approve"
            ? "Approved. The marketplace will be updated."
            : "Rejected. The worker receives the message."
        }
        onDo={async (feedback) => {
          await post(`${path}/${decision}`, { feedback });
          await onChanged();
        }}
        onClose={close}
      />
    ));
  const retry = () =>
    runAction(async () => {
      await post(`${path}/retry`);
      await onChanged();
    }, "The check runs again.");
  const bonus = () =>
    open((close) => (
      <AskReason
        title="Pay a bonus"
        action="Pay"
        needed
        label="Message to the worker"
        said="The bonus will be paid once."
        onDo={async (reason, form) => {
          const paid = await post(`${path}/bonus`, { amount: typedIn(form, "amount"), reason });
          if (!paid.created) throw new Error("This submission already has a bonus.");
        }}
        onClose={close}
      >
        <label>
          Amount
          <input name="amount" inputMode="decimal" required placeholder="0.50" autocomplete="off" />
        </label>
      </AskReason>
    ));
  const isWaiting = one.state === "pending_approval" || one.state === "errored";
  return (
    <div class="row-actions">
      {isWaiting && (
        <>
          <button type="button" onClick={() => decide("approve")}>
            Approve…
          </button>
          <button type="button" onClick={() => decide("reject")}>
            Reject…
          </button>
        </>
      )}
      {one.state === "errored" && (
        <button type="button" onClick={() => void retry()}>
          Retry its check
        </button>
      )}
      {paysBonuses && (
        <button type="button" onClick={bonus}>
          Bonus…
        </button>
      )}
    </div>
  );
}
