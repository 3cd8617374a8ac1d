import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { LaneResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get, part, post } from "../../api.ts";
import { AskReason, useDialog } from "../../dialogs.tsx";
import { isInternal, lifecycles } from "../../lifecycles.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { count } from "../../parts/tile.tsx";
import { Length, Time } from "../../parts/time.tsx";
import { commandOf } from "../../rows.ts";
import { runAction } from "../../run-action.ts";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";

/** The tasks that wait for workers, lane by lane; a lane can be paused and resumed. */
export function Lanes() {
  const [dialog, open] = useDialog();
  const [internal, setInternal] = useState(false);
  const { answer, error, again } = useRequest(() => get("/lanes", { internal: true }), []);
  usePolling(again, 2_000);
  const rows = answer?.filter((lane) => internal || !isIdleInternal(lane));
  const pause = (lane: LaneResponse) =>
    open((close) => (
      <AskReason
        title={`Pause ${nameOf(lane)}`}
        action="Pause"
        needed
        said={`${nameOf(lane)} is paused.`}
        onDo={async (reason) => {
          await post(`/lanes/${part(nameOf(lane))}/pause`, { reason });
          await again();
        }}
        onClose={close}
      >
        <p>Workers of all processes and versions stop claiming from it. Running steps finish.</p>
      </AskReason>
    ));
  const resume = (lane: LaneResponse) =>
    runAction(
      async () => {
        await post(`/lanes/${part(nameOf(lane))}/resume`);
        await again();
      },
      `${nameOf(lane)} is resumed.`,
    );
  return (
    <>
      <ErrorMessage error={error} />
      <Table
        name="lanes"
        rows={rows}
        rowKey={(lane) => lane.lane}
        columns={may("operate") ? [...columns, actions(pause, resume)] : columns}
        asked={{ url: apiUrl("/lanes"), command: commandOf(["lanes"]) }}
        empty={<Empty title="No lanes" />}
        tools={
          <>
            <label class="inline small">
              <input
                type="checkbox"
                checked={internal}
                onChange={(event) => setInternal(event.currentTarget.checked)}
              />
              Include internal lanes
            </label>
            {may("operate") && (
              <button type="button" onClick={() => open((close) => <PauseAll again={again} onClose={close} />)}>
                Pause a lifecycle…
              </button>
            )}
            {may("operate") && answer?.some((lane) => lane.closed?.by === "pause") && (
              <button type="button" onClick={() => open((close) => <ResumeAll again={again} onClose={close} />)}>
                Resume a lifecycle…
              </button>
            )}
          </>
        }
      />
      {dialog}
    </>
  );
}

/** Of samples, crowd jobs and the like: shown by themselves only while they hold something or are closed. */
function isIdleInternal({ lifecycle, ready, running, scheduled, closed }: LaneResponse): boolean {
  return isInternal(lifecycle) && ready + running + scheduled === 0 && closed === null;
}

interface AllProps {
  readonly again: () => Promise<void>;
  readonly onClose: () => void;
}

function PauseAll({ again, onClose }: AllProps) {
  return (
    <AskReason
      title="Pause a lifecycle"
      action="Pause"
      needed
      said="Lifecycle paused."
      onDo={async (reason, form) => {
        await post(`/lanes/${part(String(form.get("lifecycle")))}/pause`, { reason });
        await again();
      }}
      onClose={onClose}
    >
      <WhichLifecycle />
      <p>No more of its steps are claimed, in any process. Running steps finish.</p>
    </AskReason>
  );
}

function ResumeAll({ again, onClose }: AllProps) {
  return (
    <AskReason
      title="Resume a lifecycle"
      action="Resume"
      said="Lifecycle resumed."
      onDo={async (reason, form) => {
        await post(`/lanes/${part(String(form.get("lifecycle")))}/resume`, { reason });
        await again();
      }}
      onClose={onClose}
    >
      <WhichLifecycle />
      <p>Resumes all its lanes, including those that were paused one by one.</p>
    </AskReason>
  );
}

function WhichLifecycle() {
  return (
    <label>
      Lifecycle
      <select name="lifecycle">
        {lifecycles.value.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The name to pause: all versions of it at once. */
function nameOf({ lifecycle, state, lane }: LaneResponse): string {
  if (state !== null) return `${lifecycle}/${state}`;
  return lane.endsWith(":after") ? `${lifecycle}:after` : lifecycle;
}

const columns: readonly Column<LaneResponse>[] = [
  {
    name: "Lane",
    value: (lane) => lane.lane,
    show: (lane) => (
      <span class="nowrap">
        <b>{lane.lane}</b>
      </span>
    ),
  },
  {
    name: "State",
    value: (lane) => lane.closed?.by ?? "open",
    show: (lane) =>
      lane.closed === null ? (
        <StatePill state="open" tone="good" />
      ) : (
        <StatePill state={lane.closed.by === "pause" ? "paused" : "breaker"} tone="warn" />
      ),
  },
  { name: "Ready", numeric: true, value: (lane) => lane.ready, show: (lane) => count(lane.ready) },
  { name: "Running", numeric: true, value: (lane) => lane.running, show: (lane) => count(lane.running) },
  { name: "Scheduled", numeric: true, value: (lane) => lane.scheduled, show: (lane) => count(lane.scheduled) },
  { name: "Oldest", numeric: true, value: (lane) => lane.oldestMs, show: (lane) => <Length ms={lane.oldestMs} /> },
  {
    name: "Limits",
    value: (lane) => limitsOf(lane),
    show: (lane) => limitsOf(lane) || <span class="quiet">–</span>,
  },
  {
    name: "Why",
    value: (lane) => lane.closed?.reason,
    show: ({ closed }) =>
      closed === null ? (
        <span class="quiet">–</span>
      ) : (
        <span class="words">
          {closed.by === "breaker" ? <Link href="/breakers">{closed.reason}</Link> : closed.reason}{" "}
          <span class="quiet">
            {closed.actor !== null && `${closed.actor}, `}
            <Time at={closed.since} />
          </span>
        </span>
      ),
  },
];

function limitsOf({ limit, rate }: LaneResponse): string {
  return [limit === null ? "" : `limit ${limit}`, rate ?? ""].filter((text) => text !== "").join(", ");
}

function actions(
  pause: (lane: LaneResponse) => void,
  resume: (lane: LaneResponse) => Promise<void>,
): Column<LaneResponse> {
  return {
    name: "Actions",
    show: (lane) => (
      <span class="row-actions">
        {lane.closed?.by === "pause" ? (
          <button type="button" aria-label={`Resume ${lane.lane}`} onClick={() => void resume(lane)}>
            Resume
          </button>
        ) : (
          <button type="button" aria-label={`Pause ${lane.lane}`} onClick={() => pause(lane)}>
            Pause…
          </button>
        )}
      </span>
    ),
  };
}
