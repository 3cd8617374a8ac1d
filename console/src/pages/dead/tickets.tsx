import { Link } from "wouter-preact";
import type { TicketResponse } from "../../../../src/http/contract.ts";
import { part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PagedTable } from "../../parts/table/paged-table.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { runAction } from "../../run-action.ts";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";

/** Tickets: their assignees, and their results. */
export function Tickets({ open }: { readonly open: OpenDialog }) {
  const [filters, change] = useFilters();
  const status = filters.get("status") ?? "open";
  const isDone = status === "resolved";
  const assign = (ticket: TicketResponse, again: () => Promise<void>) =>
    runAction(async () => {
      await post(`/tickets/${part(ticket.id)}/assign`);
      await again();
    }, "The ticket is assigned to you.");
  const resolve = (ticket: TicketResponse, again: () => Promise<void>) =>
    open((close) => (
      <AskReason
        title="Resolve this ticket"
        action="Resolve"
        needed
        label="Resolution"
        said="Ticket resolved."
        onDo={async (reason) => {
          await post(`/tickets/${part(ticket.id)}/resolve`, { reason });
          await again();
        }}
        onClose={close}
      >
        <p>Closes the ticket. The dead letter stays as it is.</p>
      </AskReason>
    ));
  return (
    <PagedTable<TicketResponse>
      name="tickets"
      path="/tickets"
      query={{ status }}
      columns={({ again }) => [
        ...columns,
        ...(status === "open" ? [] : assigned),
        ...(isDone ? resolved : []),
        ...(may("operate") && !isDone
          ? [
              actions(
                (one) => assign(one, again),
                (one) => resolve(one, again),
              ),
            ]
          : []),
      ]}
      empty={<Empty title={isDone ? "No resolved tickets" : "No tickets"} />}
      tools={() => (
        <Choice
          name="Tickets"
          value={status}
          choices={[
            ["open", "unassigned"],
            ["assigned", "assigned"],
            ["resolved", "resolved"],
          ]}
          onChoose={(chosen) => change({ status: chosen })}
        />
      )}
    />
  );
}

const columns: readonly Column<TicketResponse>[] = [
  {
    name: "Error",
    value: (ticket) => ticket.pattern,
    show: (ticket) => (
      <Link class="fault" href={`/dead/${ticket.fingerprint}?letter=${ticket.id}`}>
        {ticket.pattern}
      </Link>
    ),
  },
  {
    name: "Where",
    value: (ticket) => `${ticket.lifecycle}/${ticket.origin}`,
    show: (ticket) => `${ticket.lifecycle} · ${ticket.origin}`,
  },
  { name: "Opened", value: (ticket) => ticket.openedAt, show: (ticket) => <Time at={ticket.openedAt} /> },
];

const assigned: readonly Column<TicketResponse>[] = [
  { name: "Assigned to", value: (ticket) => ticket.assignee, show: (ticket) => ticket.assignee ?? "–" },
  { name: "Assigned", value: (ticket) => ticket.assignedAt, show: (ticket) => <Time at={ticket.assignedAt} /> },
];

const resolved: readonly Column<TicketResponse>[] = [
  { name: "Resolved by", value: (ticket) => ticket.resolvedBy, show: (ticket) => ticket.resolvedBy ?? "–" },
  { name: "Resolution", value: (ticket) => ticket.resolution, show: (ticket) => ticket.resolution ?? "–" },
];

function actions(
  assign: (ticket: TicketResponse) => Promise<void>,
  resolve: (ticket: TicketResponse) => void,
): Column<TicketResponse> {
  return {
    name: "Actions",
    show: (ticket) => (
      <span class="row-actions">
        {ticket.status === "open" && (
          <button type="button" onClick={() => void assign(ticket)}>
            Take
          </button>
        )}
        <button type="button" onClick={() => resolve(ticket)}>
          Resolve…
        </button>
      </span>
    ),
  };
}
