import type { CallbackResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { AskReason, useDialog } from "../../dialogs.tsx";
import { JsonView } from "../../parts/json.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { useRequest } from "../../use-request.ts";
import type { Of } from "./instance-side.tsx";

const tones = {
  applied: "good",
  accepted: "good",
  waiting: "info",
  kept: "warn",
  rejected: "bad",
  refused: "bad",
} as const;

/** The results that external systems sent to an instance. */
export function Callbacks({ path, version }: Of) {
  const { answer } = useRequest(() => get(`${path}/callbacks`), [path, version]);
  if (answer === undefined || answer.length === 0) return null;
  return (
    <section class="panel" aria-label="Callbacks">
      <h2>Callbacks</h2>
      <ul class="short-list">
        {answer.map((one) => (
          <li key={one.id}>
            <span>
              <b>{one.event}</b> {one.late && <span class="warning">late</span>} <span class="quiet">{one.reason}</span>
            </span>
            <span>
              <StatePill state={one.status} tone={tones[one.status]} />{" "}
              <span class="quiet">
                <Time at={one.receivedAt} />
              </span>
            </span>
            <details class="carried">
              <summary>{one.error === null ? "Payload" : `Error: ${one.error.message}`}</summary>
              <JsonView value={one.error ?? one.payload} name={`the payload of ${one.event}`} />
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Results that came after their deadline and are kept until a person accepts them. */
export function LateResults({ path, version, onAccepted }: Of & { readonly onAccepted: () => void }) {
  const [dialog, open] = useDialog();
  const { answer, again } = useRequest(() => get(`${path}/callbacks`, { late: true, status: "kept" }), [path, version]);
  if (answer === undefined || answer.length === 0) return null;
  const accept = ({ id, event, error }: CallbackResponse) =>
    open((close) => (
      <AskReason
        title={error === null ? `Accept the late result ${event}` : `Accept the late error of ${event}`}
        action="Accept late result"
        said={`${event} was accepted.`}
        onDo={async (reason) => {
          await post(`/callbacks/${part(id)}/accept`, { reason });
          await again();
          onAccepted();
        }}
        onClose={close}
      >
        <p>The instance moves as if the result had come in time: what was done instead is replaced.</p>
      </AskReason>
    ));
  return (
    <section class="panel late-results" aria-label="Late results">
      {answer.map((one) => (
        <div key={one.id} class="late-result">
          <p>
            <b>A late result:</b> {one.event} came <Time at={one.receivedAt} />, after its deadline. It is kept and has
            changed nothing. <span class="quiet">{one.reason}</span>
          </p>
          <details class="carried" open>
            <summary>{one.error === null ? "Payload" : "Error"}</summary>
            <JsonView value={one.error ?? one.payload} name={`the late payload of ${one.event}`} />
          </details>
          {may("operate") && (
            <button type="button" class="primary" onClick={() => accept(one)}>
              Accept late result…
            </button>
          )}
        </div>
      ))}
      {dialog}
    </section>
  );
}
