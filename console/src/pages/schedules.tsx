import type { ScheduleResponse } from "../../../src/http/contract.ts";
import { apiUrl, get, part, post } from "../api.ts";
import { AskReason, type OpenDialog, useDialog } from "../dialogs.tsx";
import { Empty } from "../parts/empty.tsx";
import { ErrorMessage } from "../parts/error-message.tsx";
import { Id } from "../parts/id.tsx";
import { StatePill, type Tone } from "../parts/state-pill.tsx";
import { type Column, Table } from "../parts/table/table.tsx";
import { Time } from "../parts/time.tsx";
import { commandOf } from "../rows.ts";
import { runAction } from "../run-action.ts";
import { may } from "../session.ts";
import { usePolling } from "../use-polling.ts";
import { useRequest } from "../use-request.ts";
import "./operating.css";

/** The schedules. */
export function Schedules() {
  const [dialog, open] = useDialog();
  const { answer, error, again } = useRequest(() => get("/schedules"), []);
  usePolling(again);
  return (
    <section>
      <h1>Schedules</h1>
      <ErrorMessage error={error} />
      <Table
        name="schedules"
        rows={answer}
        rowKey={(one) => one.name}
        columns={may("operate") ? [...columns, actions(open, again)] : columns}
        asked={{ url: apiUrl("/schedules"), command: commandOf(["schedules"]) }}
        empty={
          <Empty title="No schedules">
            Declare one: <code>schedule("nightly", {'{ cron: "30 3 * * *", start: tidy }'})</code>
          </Empty>
        }
      />
      {dialog}
    </section>
  );
}

const tones: Readonly<Record<ScheduleResponse["status"], Tone>> = {
  active: "good",
  paused: "warn",
  new: "info",
  orphaned: "bad",
};

const columns: readonly Column<ScheduleResponse>[] = [
  { name: "Schedule", value: (one) => one.name, show: (one) => <b>{one.name}</b> },
  {
    name: "Status",
    value: (one) => one.status,
    show: (one) => (
      <span>
        <StatePill state={one.status} tone={tones[one.status]} />
        {one.paused !== null && (
          <div class="small quiet">
            {one.paused.actor ?? "an operator"}
            {one.paused.reason !== null && `: ${one.paused.reason}`}
          </div>
        )}
      </span>
    ),
  },
  {
    name: "Due",
    value: (one) => one.timing,
    show: (one) => <code class="nowrap">{one.timing}</code>,
  },
  { name: "Starts", value: (one) => one.starts, show: (one) => one.starts },
  { name: "Next", value: (one) => one.nextAt, show: (one) => <Time at={one.nextAt} /> },
  { name: "Last", value: (one) => one.last?.at, show: (one) => <Time at={one.last?.at} /> },
  {
    name: "Result",
    value: (one) => one.last?.result,
    show: ({ last }) =>
      last === null ? (
        <span class="quiet">–</span>
      ) : (
        <span>
          <StatePill state={last.result} tone={last.result === "failed" ? "bad" : "plain"} />{" "}
          {last.instance !== null && <Id id={last.instance} href={`/instances/${last.instance}`} />}
          {last.error !== null && <div class="small error">{last.error}</div>}
        </span>
      ),
  },
];

function actions(open: OpenDialog, again: () => Promise<void>): Column<ScheduleResponse> {
  const pause = ({ name }: ScheduleResponse) =>
    open((close) => (
      <AskReason
        title={`Pause ${name}`}
        action="Pause"
        said={`${name} is paused.`}
        onDo={async (reason) => {
          await post(`/schedules/${part(name)}/pause`, { reason });
          await again();
        }}
        onClose={close}
      >
        <p>It does not run until you resume it.</p>
      </AskReason>
    ));
  const resume = ({ name }: ScheduleResponse) =>
    runAction(async () => {
      await post(`/schedules/${part(name)}/resume`);
      await again();
    }, `${name} is resumed. Missed runs are skipped.`);
  const run = ({ name }: ScheduleResponse) =>
    runAction(async () => {
      await post(`/schedules/${part(name)}/run`);
      await again();
    }, `${name} started.`);
  return {
    name: "Actions",
    show: (one) => (
      <span class="row-actions">
        <button type="button" aria-label={`Run now: ${one.name}`} onClick={() => void run(one)}>
          Run now
        </button>
        {one.status === "paused" ? (
          <button type="button" aria-label={`Resume ${one.name}`} onClick={() => void resume(one)}>
            Resume
          </button>
        ) : (
          <button type="button" aria-label={`Pause ${one.name}`} onClick={() => pause(one)}>
            Pause…
          </button>
        )}
      </span>
    ),
  };
}
