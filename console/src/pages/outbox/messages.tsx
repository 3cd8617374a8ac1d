import type { MessageResponse } from "../../../../src/http/contract.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { JsonView } from "../../parts/json.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";

type Decide = (meant: { decision: "requeue" | "discard"; meant: { id: readonly string[] } }) => void;

const tones = { pending: "info", published: "good", dead: "bad", discarded: "plain" } as const;

/** With `decide`, dead messages can be requeued or discarded. */
export function messageColumns(
  look: (id: string) => void,
  decide: Decide | undefined,
): readonly Column<MessageResponse>[] {
  const columns: readonly Column<MessageResponse>[] = [
    {
      name: "Type",
      value: (one) => one.type,
      show: (one) => (
        <button type="button" class="link" onClick={() => look(one.id)}>
          {one.type}
        </button>
      ),
    },
    {
      name: "Of",
      value: (one) => `${one.aggregate.type} ${one.aggregate.id}`,
      show: (one) => (
        <span>
          {one.aggregate.type} <Id id={one.aggregate.id} />
        </span>
      ),
    },
    { name: "Status", value: (one) => one.status, show: (one) => <Status message={one} /> },
    { name: "Failures", numeric: true, value: (one) => one.retryCount, show: (one) => one.retryCount },
    {
      name: "Error",
      value: (one) => one.error,
      show: (one) => (one.error === null ? <span class="quiet">–</span> : <span class="fault">{one.error}</span>),
    },
    { name: "Written", value: (one) => one.createdAt, show: (one) => <Time at={one.createdAt} /> },
  ];
  return decide === undefined ? columns : [...columns, actions(decide)];
}

function Status({ message: { status, behind, nextAttemptAt } }: { readonly message: MessageResponse }) {
  return (
    <span>
      <StatePill state={status} tone={tones[status]} />
      {behind && <div class="small quiet">behind another message</div>}
      {status === "pending" && nextAttemptAt !== null && (
        <div class="small quiet">
          again <Time at={nextAttemptAt} />
        </div>
      )}
    </span>
  );
}

function actions(decide: Decide): Column<MessageResponse> {
  return {
    name: "Actions",
    show: ({ id, status }) =>
      status === "dead" && (
        <span class="row-actions">
          <button type="button" onClick={() => decide({ decision: "requeue", meant: { id: [id] } })}>
            Requeue…
          </button>
          <button type="button" onClick={() => decide({ decision: "discard", meant: { id: [id] } })}>
            Discard…
          </button>
        </span>
      ),
  };
}

export function MessageDrawer({
  message,
  onClose,
}: {
  readonly message: MessageResponse;
  readonly onClose: () => void;
}) {
  const { id, type, aggregate, error, createdAt, processedAt, retryCount, payload } = message;
  return (
    <Drawer title={type} name="Message" onClose={onClose} wide>
      <Facts
        facts={[
          ["Status", <Status key="status" message={message} />],
          [
            "Of",
            <span key="of">
              {aggregate.type} <Id id={aggregate.id} />
            </span>,
          ],
          ["Written", <Time key="written" at={createdAt} />],
          ["Done", <Time key="done" at={processedAt} />],
          ["Failures", retryCount],
          ["Error", error === null ? undefined : <span class="fault">{error}</span>],
          ["Id", <Id key="id" id={id} />],
        ]}
      />
      <h3>Payload</h3>
      <JsonView value={payload} name="payload" />
    </Drawer>
  );
}
