import type { SampleResponse } from "../../../../src/http/contract.ts";
import { part } from "../../api.ts";
import type { OpenDialog } from "../../dialogs.tsx";
import { Bar } from "../../parts/bar.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { PagedTable } from "../../parts/table/paged-table.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { useFilters } from "../../url.ts";
import { SampleDrawer } from "./sample.tsx";
import { sampleTones } from "./sample-tones.ts";
import { percent } from "./shares.tsx";
import { shortValue } from "./short-value.ts";

interface SamplesProps {
  readonly queue: string;
  /** Whether a lead reviews every label of the queue. */
  readonly reviews: boolean;
  readonly open: OpenDialog;
}

/** The samples of a queue, by state. */
export function Samples({ queue, reviews, open }: SamplesProps) {
  const [filters, change] = useFilters();
  const state = filters.get("state") ?? undefined;
  return (
    <PagedTable<SampleResponse>
      name="samples"
      path={`/queues/${part(queue)}/samples`}
      query={{ state }}
      columns={({ show }) => columnsFor(show)}
      empty={
        <Empty title={state === undefined ? "The queue is empty" : `No ${state} samples`}>
          {state === undefined && "A state that asks people adds samples; so does `pawl queue import`."}
        </Empty>
      }
      tools={() => (
        <Choice
          name="State"
          value={state ?? ""}
          choices={[["", "any"], ...Object.keys(sampleTones).map((one) => [one, one] as const)]}
          onChoose={(chosen) => change({ state: chosen })}
        />
      )}
      drawer={{
        parameter: "sample",
        show: (row) => <SampleDrawer key={row.id} open={open} reviews={reviews} {...row} />,
      }}
    />
  );
}

function columnsFor(look: (id: string) => void): readonly Column<SampleResponse>[] {
  return [
    {
      name: "Sample",
      value: (sample) => sample.key ?? sample.id,
      show: (sample) => (
        <button type="button" class="link" onClick={() => look(sample.id)}>
          {sample.key ?? `…${sample.id.slice(-8)}`}
        </button>
      ),
    },
    {
      name: "State",
      value: (sample) => sample.state,
      show: (sample) => <StatePill state={sample.state} tone={sampleTones[sample.state]} />,
    },
    {
      name: "Labels",
      value: (sample) => sample.labeled,
      show: (sample) => (
        <span class="measure">
          <Bar
            name={`Labels of ${sample.key ?? sample.id}`}
            value={sample.labeled}
            of={sample.needs}
            tone={sample.labeled >= sample.needs ? "good" : "info"}
          />
          <span class="number small">
            {sample.labeled} / {sample.needs}
            {sample.held > 0 && <span class="quiet"> · {sample.held} assigned</span>}
          </span>
        </span>
      ),
    },
    {
      name: "Says",
      value: (sample) => shortValue(sample.consensus),
      show: (sample) => <span class="small">{shortValue(sample.consensus)}</span>,
    },
    {
      name: "Agreement",
      numeric: true,
      value: (sample) => sample.agreement,
      show: (sample) => percent(sample.agreement),
    },
    { name: "Why", value: (sample) => sample.reason, show: (sample) => sample.reason ?? <span class="quiet">–</span> },
    { name: "Moved", value: (sample) => sample.movedAt, show: (sample) => <Time at={sample.movedAt} /> },
  ];
}
