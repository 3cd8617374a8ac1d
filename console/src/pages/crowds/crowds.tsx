import { Link } from "wouter-preact";
import type { CrowdResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get, part } from "../../api.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { count, Tile } from "../../parts/tile.tsx";
import { commandOf } from "../../rows.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import "../operating.css";

/** The crowds and their marketplaces. */
export function Crowds() {
  const { answer, error, again } = useRequest(() => get("/crowds"), []);
  usePolling(again);
  const marketplaces = [...new Map(answer?.map((crowd) => [crowd.marketplace, crowd])).values()];
  return (
    <section>
      <h1>Crowds</h1>
      <ErrorMessage error={error} />
      {marketplaces.length > 0 && (
        <div class="tiles">
          {marketplaces.map((crowd) => (
            <Balance key={crowd.marketplace} crowd={crowd} />
          ))}
        </div>
      )}
      <Table
        name="crowds"
        rows={answer}
        rowKey={(crowd) => crowd.name}
        columns={columns}
        asked={{ url: apiUrl("/crowds"), command: commandOf(["crowd", "list"]) }}
        empty={
          <Empty title="No crowds">
            Declare one with <code>crowd("receipts", …)</code>, and a marketplace in the config.
          </Empty>
        }
      />
    </section>
  );
}

/** The balance. The marketplace itself is queried, so once per visit of the page. */
function Balance({ crowd: { marketplace, title, sandbox } }: { readonly crowd: CrowdResponse }) {
  const path = `/marketplaces/${part(marketplace)}/balance` as const;
  const { answer, error } = useRequest(() => get(path), [marketplace]);
  const value = answer === undefined ? "–" : (answer.balance ?? "no payments");
  return <Tile name={`Balance on ${title}`} value={value} note={error ?? (sandbox ? <Ribbon /> : marketplace)} />;
}

export function Ribbon() {
  return <span class="ribbon">Sandbox</span>;
}

/** The count of these states. */
export function among(counts: Readonly<Record<string, number | undefined>>, ...states: readonly string[]): number {
  return states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

const columns: readonly Column<CrowdResponse>[] = [
  {
    name: "Crowd",
    value: (crowd) => crowd.name,
    show: (crowd) => (
      <Link href={`/crowds/${encodeURIComponent(crowd.name)}`}>
        <b>{crowd.name}</b>
      </Link>
    ),
  },
  {
    name: "Marketplace",
    value: (crowd) => crowd.title,
    show: (crowd) => (
      <span>
        {crowd.title} {crowd.sandbox && <Ribbon />}
      </span>
    ),
  },
  {
    name: "To review",
    numeric: true,
    value: ({ submissions }) => among(submissions, "pending_approval", "errored"),
    show: ({ submissions }) => {
      const waiting = among(submissions, "pending_approval", "errored");
      return <span class={waiting > 0 ? "warning" : undefined}>{count(waiting)}</span>;
    },
  },
  {
    name: "Approved",
    numeric: true,
    value: ({ submissions }) => among(submissions, "approved"),
    show: ({ submissions }) => count(among(submissions, "approved")),
  },
  {
    name: "Rejected",
    numeric: true,
    value: ({ submissions }) => among(submissions, "rejected"),
    show: ({ submissions }) => count(among(submissions, "rejected")),
  },
  {
    name: "Jobs in progress",
    numeric: true,
    value: ({ jobs }) => among(jobs, "publishing", "running", "syncing", "extending", "closing"),
    show: ({ jobs }) => count(among(jobs, "publishing", "running", "syncing", "extending", "closing")),
  },
  {
    name: "Finished",
    numeric: true,
    value: ({ jobs }) => among(jobs, "finished"),
    show: ({ jobs }) => count(among(jobs, "finished")),
  },
  {
    name: "Incomplete",
    numeric: true,
    value: ({ jobs }) => among(jobs, "incomplete", "failed"),
    show: ({ jobs }) => count(among(jobs, "incomplete", "failed")),
  },
];
