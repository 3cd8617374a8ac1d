import type { LabelerResponse, MetricsResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get, part, put } from "../../api.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { count } from "../../parts/tile.tsx";
import { runAction } from "../../run-action.ts";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { percent, seconds } from "./shares.tsx";

type Row = MetricsResponse & {
  readonly labeler: string;
  readonly known: LabelerResponse | undefined;
  readonly agreement: number | null;
};

/**
 * The labelers of a queue, their number of labels, and their quality. The agreement is computed over all labels, so
 * only on request.
 */
export function Labelers({ queue }: { readonly queue: string }) {
  const path = `/queues/${part(queue)}` as const;
  const quality = useRequest(() => get(`${path}/quality`), [queue]);
  const labelers = useRequest(async () => {
    type Numbers = MetricsResponse & { readonly labeler: string };
    const ask = get(`${path}/metrics`, { by: "labeler" }) as Promise<Numbers[]>;
    return Promise.all([ask, get("/labelers")]);
  }, [queue]);
  usePolling(labelers.again);
  const [numbers, known] = labelers.answer ?? [];
  const rows = numbers?.map((one): Row => {
    const of = quality.answer?.labelers.find((each) => each.labeler === one.labeler);
    return { ...one, known: known?.find((each) => each.id === one.labeler), agreement: of?.agreement ?? null };
  });
  const setActive = (id: string, active: boolean) =>
    runAction(
      async () => {
        await put(`/labelers/${part(id)}`, { active });
        await labelers.again();
      },
      active ? `${id} gets assignments again.` : `${id} gets no more assignments.`,
    );
  return (
    <>
      <ErrorMessage error={labelers.error ?? quality.error} />
      {quality.answer !== undefined && quality.answer.agreement.agreement !== null && (
        <Facts
          facts={[
            ["Agreement", percent(quality.answer.agreement.agreement)],
            ["Alpha", quality.answer.agreement.alpha?.toFixed(2)],
            ["Lowest agreement", quality.answer.agreement.weakest || undefined],
          ]}
        />
      )}
      <Table
        name="labelers"
        rows={rows}
        rowKey={(row) => row.labeler}
        columns={may("operate") ? [...columns, actions(setActive)] : columns}
        asked={{ url: apiUrl(`${path}/metrics`, { by: "labeler" }) }}
        empty={<Empty title="No labels in this queue yet" />}
      />
    </>
  );
}

const columns: readonly Column<Row>[] = [
  {
    name: "Labeler",
    value: (row) => row.labeler,
    show: (row) => (
      <span>
        <b>{row.labeler}</b> {row.known?.name != null && <span class="quiet">{row.known.name}</span>}{" "}
        {row.known?.active === false && <StatePill state="inactive" tone="warn" />}
      </span>
    ),
  },
  { name: "Done", numeric: true, value: (row) => row.byStatus.completed, show: (row) => count(row.byStatus.completed) },
  {
    name: "Assigned",
    numeric: true,
    value: (row) => row.byStatus.pending + row.byStatus.in_progress,
    show: (row) => count(row.byStatus.pending + row.byStatus.in_progress),
  },
  {
    name: "Mean time",
    numeric: true,
    value: (row) => row.avgTimeToComplete,
    show: (row) => seconds(row.avgTimeToComplete),
  },
  {
    name: "Skipped",
    numeric: true,
    value: (row) => row.ofClosed.skipRate,
    show: (row) => percent(row.ofClosed.skipRate),
  },
  {
    name: "Expired",
    numeric: true,
    value: (row) => row.ofClosed.expireRate,
    show: (row) => percent(row.ofClosed.expireRate),
  },
  { name: "Rejected", numeric: true, value: (row) => row.rejected, show: (row) => count(row.rejected) },
  { name: "Late", numeric: true, value: (row) => row.late, show: (row) => count(row.late) },
  { name: "Agrees", numeric: true, value: (row) => row.agreement, show: (row) => percent(row.agreement) },
  {
    name: "Gold accuracy",
    numeric: true,
    value: (row) => row.gold.accuracy,
    show: (row) => (
      <span>
        {percent(row.gold.accuracy)} <span class="quiet">of {row.gold.labels}</span>
      </span>
    ),
  },
];

function actions(setActive: (id: string, active: boolean) => Promise<void>): Column<Row> {
  return {
    name: "Actions",
    show: ({ labeler, known }) => {
      const isActive = known?.active !== false;
      return (
        <span class="row-actions">
          <button
            type="button"
            aria-label={`${isActive ? "Deactivate" : "Activate"} ${labeler}`}
            onClick={() => void setActive(labeler, !isActive)}
          >
            {isActive ? "Deactivate" : "Activate"}
          </button>
        </span>
      );
    },
  };
}
