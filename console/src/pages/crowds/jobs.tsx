import type { CrowdJobResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { JsonView } from "../../parts/json.tsx";
import { StatePill, type Tone } from "../../parts/state-pill.tsx";
import { PagedTable } from "../../parts/table/paged-table.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { commandOf } from "../../rows.ts";
import { runAction } from "../../run-action.ts";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { percent } from "../people/shares.tsx";
import { shortValue } from "../people/short-value.ts";

const tones: Readonly<Record<string, Tone>> = { finished: "good", incomplete: "warn", failed: "bad", closed: "plain" };

/** The jobs of a crowd. */
export function Jobs({ crowd, open }: { readonly crowd: string; readonly open: OpenDialog }) {
  return (
    <PagedTable<CrowdJobResponse>
      name="jobs"
      path={`/crowds/${part(crowd)}/jobs`}
      command={commandOf(["crowd", "jobs", crowd])}
      columns={({ show }) => columnsFor(show)}
      empty={<Empty title="No jobs yet" />}
      drawer={{ parameter: "job", show: (row) => <JobDrawer key={row.id} open={open} {...row} /> }}
    />
  );
}

function columnsFor(look: (id: string) => void): readonly Column<CrowdJobResponse>[] {
  return [
    {
      name: "Job",
      value: (job) => job.key ?? job.id,
      show: (job) => (
        <button type="button" class="link" onClick={() => look(job.id)}>
          {job.key ?? `…${job.id.slice(-8)}`}
        </button>
      ),
    },
    {
      name: "State",
      value: (job) => job.state,
      show: (job) => <StatePill state={job.state} tone={tones[job.state] ?? "info"} />,
    },
    { name: "Approved", numeric: true, value: (job) => job.approved, show: (job) => job.approved },
    { name: "Rejected", numeric: true, value: (job) => job.rejected, show: (job) => job.rejected },
    {
      name: "Says",
      value: (job) => JSON.stringify(job.consensus),
      show: (job) => <span class="small">{shortValue(job.consensus)}</span>,
    },
    { name: "Agreement", numeric: true, value: (job) => job.agreement, show: (job) => percent(job.agreement) },
    { name: "Why", value: (job) => job.reason, show: (job) => job.reason ?? <span class="quiet">–</span> },
    { name: "Moved", value: (job) => job.movedAt, show: (job) => <Time at={job.movedAt} /> },
  ];
}

interface JobDrawerProps {
  readonly id: string;
  readonly open: OpenDialog;
  readonly onClose: () => void;
  readonly onChanged: () => Promise<void>;
}

function JobDrawer({ id, open, onClose, onChanged }: JobDrawerProps) {
  const { answer: job, error, again } = useRequest(() => get(`/crowd-jobs/${part(id)}`), [id]);
  usePolling(again);
  const changed = async () => {
    await Promise.all([again(), onChanged()]);
  };
  const look = () =>
    runAction(async () => {
      await post(`/crowd-jobs/${part(id)}/sync`);
      await changed();
    }, "The job is syncing.");
  const closeIt = () =>
    open((close) => (
      <AskReason
        title="Close this job"
        action="Close job"
        dangerous
        said="The job is closed to new workers."
        onDo={async (reason) => {
          await post(`/crowd-jobs/${part(id)}/close`, { reason });
          await changed();
        }}
        onClose={close}
      >
        <p>No new worker can start. Work in progress is still decided and paid.</p>
      </AskReason>
    ));
  return (
    <Drawer title={job?.key ?? "Crowd job"} name="Crowd job" onClose={onClose} wide>
      <ErrorMessage error={error} />
      {job !== undefined && (
        <>
          {may("operate") && job.closedAt === null && (
            <div class="row-actions">
              <button type="button" onClick={() => void look()}>
                Sync now
              </button>
              <button type="button" onClick={closeIt}>
                Close…
              </button>
            </div>
          )}
          <Facts
            facts={[
              ["State", <StatePill key="state" state={job.state} tone={tones[job.state] ?? "info"} />],
              ["Submissions", `${job.approved} approved, ${job.rejected} rejected`],
              ["Agreement", percent(job.agreement)],
              ["Incomplete", job.reason ?? undefined],
              ["Postings", job.postings.map((one) => `${one.id} (${one.places} places)`).join(", ") || undefined],
              ["Moved", <Time key="moved" at={job.movedAt} />],
              ["Id", <Id key="id" id={job.id} href={`/instances/${job.id}`} />],
            ]}
          />
          <h3>Content</h3>
          <JsonView value={job.content} name="content" />
          {job.labels.length > 0 && (
            <>
              <h3>Submissions</h3>
              <JsonView value={job.labels} name="labels" />
            </>
          )}
        </>
      )}
    </Drawer>
  );
}
