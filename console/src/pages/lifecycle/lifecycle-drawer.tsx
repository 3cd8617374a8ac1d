import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { LaneResponse, LifecycleResponse, StateResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { countIn } from "../../lifecycles.ts";
import { Dialog, typedIn } from "../../parts/dialog.tsx";
import { ReasonField } from "../../parts/dialog-fields.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { count } from "../../parts/tile.tsx";
import { Length, Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toast.tsx";
import { may } from "../../session.ts";
import { useRefresh } from "../../use-refresh.ts";
import { useRequest } from "../../use-request.ts";

export interface LifecycleDrawerProps {
  readonly lifecycle: LifecycleResponse;
  readonly state: StateResponse;
  readonly onClose: () => void;
}

/** What there is to know and to do about one state. */
export function LifecycleDrawer({ lifecycle, state, onClose }: LifecycleDrawerProps) {
  const instances = useRequest(
    () => get(`/lifecycles/${part(lifecycle.name)}/states/${part(state.name)}/oldest`, { limit: 5 }),
    [lifecycle.name, state.name],
  );
  const lanes = useRequest(async () => {
    if (state.lane === null) return [];
    const all = await get("/lanes");
    return all.filter((lane) => lane.lifecycle === lifecycle.name && lane.state === state.name);
  }, [lifecycle.name, state.name]);
  useRefresh(async () => {
    await Promise.all([instances.again(), lanes.again()]);
  });
  const there = `/instances?${new URLSearchParams({ lifecycle: lifecycle.name, state: state.name })}`;
  return (
    <Drawer
      title={<StatePill state={state.name} outcome={state.final} />}
      name={`State ${state.name}`}
      onClose={onClose}
    >
      <p class="state-count">
        <b>{count(countIn(lifecycle, state.name))}</b> <span class="quiet">instances here</span>
      </p>
      <div class="actions start">
        <Link class="button" href={there}>
          Instances here
        </Link>
        {state.lane !== null && may("operate") && lanes.answer !== undefined && (
          <PauseButton lane={state.lane} lanes={lanes.answer} onDone={() => void lanes.again()} />
        )}
        {state.asks?.whom === "people" && (
          <Link class="button" href={`/people/${part(state.asks.name)}`}>
            Queue
          </Link>
        )}
        {state.asks?.whom === "crowd" && (
          <Link class="button" href={`/crowds/${part(state.asks.name)}`}>
            Crowd
          </Link>
        )}
      </div>
      <h3>Definition</h3>
      <Facts facts={policyOf(state)} />
      {lanes.answer?.map((lane) => (
        <LaneFacts key={lane.lane} lane={lane} />
      ))}
      <h3>Oldest here</h3>
      <ErrorMessage error={instances.error ?? lanes.error} />
      {instances.answer?.length === 0 && <p class="quiet">No instances in this state.</p>}
      <ul class="short-list">
        {instances.answer?.map(({ id, key, movedAt }) => (
          <li key={id}>
            {key === null ? <Id id={id} href={`/instances/${id}`} /> : <Link href={`/instances/${id}`}>{key}</Link>}
            <span class="quiet">
              <Time at={movedAt} />
            </span>
          </li>
        ))}
      </ul>
    </Drawer>
  );
}

const kindWords: Readonly<Record<string, string>> = {
  work: "A worker runs it",
  wait: "Waits for an event",
  ask: "It asks",
  park: "Parked until a scheduler releases it",
  join: "Waits for its children",
  end: "Final state",
};

function policyOf(state: StateResponse): [string, string][] {
  const { asks, timeouts, maxAttempts, uses, limit, rate, checkpoint, events, kind, lane } = state;
  const said: [string, string | number | null | undefined][] = [
    ["What happens", asks === null ? kindWords[kind] : `It asks ${asks.whom}: ${asks.name}`],
    ["Lane", lane],
    ["Attempts", lane === null ? null : (maxAttempts ?? "default, 4")],
    ["Breaker", uses],
    ["Concurrency limit", limit],
    ["Rate", rate],
    [
      "Timeout",
      timeouts.map(({ after, send }) => `${send} after ${after ?? "a time that depends on the data"}`).join(", "),
    ],
    ["Checkpoint", checkpoint],
    ["Takes", events.join(", ")],
  ];
  return said.flatMap(([name, value]) =>
    value === null || value === undefined || value === "" ? [] : [[name, String(value)]],
  );
}

function LaneFacts({ lane }: { readonly lane: LaneResponse }) {
  return (
    <>
      <h3>Lane {lane.lane}</h3>
      <Facts
        facts={[
          ["Ready", count(lane.ready)],
          ["Scheduled", count(lane.scheduled)],
          ["Running", count(lane.running)],
          ["Oldest ready", <Length key="oldest" ms={lane.oldestMs} />],
        ]}
      />
      {lane.closed !== null && <p class="warning">Paused: {lane.closed.reason}</p>}
    </>
  );
}

interface PauseButtonProps {
  readonly lane: string;
  readonly lanes: readonly LaneResponse[];
  readonly onDone: () => void;
}

function PauseButton({ lane, lanes, onDone }: PauseButtonProps) {
  const [asking, setAsking] = useState(false);
  const isPaused = lanes.some(({ closed }) => closed?.by === "pause");
  const act = async (form: FormData) => {
    await post(`/lanes/${part(lane)}/${isPaused ? "resume" : "pause"}`, { reason: typedIn(form, "reason") });
    showToast(isPaused ? `${lane} is resumed.` : `${lane} is paused.`);
    onDone();
  };
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        {isPaused ? "Resume" : "Pause"}
      </button>
      {asking && (
        <Dialog
          title={isPaused ? `Resume ${lane}` : `Pause ${lane}`}
          action={isPaused ? "Resume" : "Pause"}
          onDo={act}
          onClose={() => setAsking(false)}
        >
          {!isPaused && <p class="quiet">Running steps finish, waiting ones keep their place, in all processes.</p>}
          <ReasonField needed={!isPaused} />
        </Dialog>
      )}
    </>
  );
}
