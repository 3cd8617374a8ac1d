import type { OutboxResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get } from "../../api.ts";
import { useDialog } from "../../dialogs.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { count, Tile } from "../../parts/tile.tsx";
import { Time } from "../../parts/time.tsx";
import { length } from "../../preferences/times.ts";
import { commandOf } from "../../rows.ts";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { DecideMessages, type DecideMessagesProps } from "./decide.tsx";
import { MessageDrawer, messageColumns } from "./messages.tsx";
import "../operating.css";

const limit = 200;

/** The outbox: backlog, lag, and dead messages. */
export function Outbox() {
  const [filters, change] = useFilters();
  const [dialog, open] = useDialog();
  const status = filters.get("status") ?? "dead";
  const type = filters.get("type") ?? undefined;
  const outbox = useRequest(() => get("/outbox"), []);
  const ask = () => get("/messages", { status, type, limit });
  const messages = useRequest(ask, [status, type]);
  const again = async () => {
    await Promise.all([outbox.again(), messages.again()]);
  };
  usePolling(again);
  const decide = (meant: Omit<DecideMessagesProps, "onClose" | "onDecided">) =>
    open((close) => <DecideMessages {...meant} onClose={close} onDecided={again} />);
  const shown = messages.answer?.find((one) => one.id === filters.get("message"));
  const types = outbox.answer?.types ?? [];
  const canDecide = may("operate") && status === "dead" && (messages.answer?.length ?? 0) > 0;
  const meant = type === undefined ? { all: true as const } : { type };
  return (
    <section>
      <h1>Outbox</h1>
      <ErrorMessage error={outbox.error ?? messages.error} />
      <Numbers answer={outbox.answer} />
      {outbox.answer?.brokers.length === 0 && (
        <p class="note">
          <b>No broker is configured</b> in the process that serves this page, so it sends no messages. They wait until
          a process sends them that has one: set <code>outbox: {"{ brokers: […] }"}</code> in its configuration.
        </p>
      )}
      <Table
        name="types"
        rows={outbox.answer?.types}
        rowKey={(one) => one.type}
        columns={typeColumns((chosen) => change({ type: chosen }))}
        asked={{ url: apiUrl("/outbox"), command: commandOf(["outbox"]) }}
        empty={<Empty title="The outbox is empty">Messages that steps publish are sent from here, in order.</Empty>}
      />
      <div class="section">
        <h2>Messages</h2>
        <Table
          name="messages"
          rows={messages.answer}
          rowKey={(one) => one.id}
          columns={messageColumns((message) => change({ message }), may("operate") ? decide : undefined)}
          asked={{ url: apiUrl("/messages", { status, type }) }}
          empty={<Empty title={status === "dead" ? "No dead messages" : `No ${status} messages`} />}
          tools={
            <>
              <Choice
                name="Status"
                value={status}
                choices={[
                  ["dead", "dead"],
                  ["pending", "pending"],
                  ["published", "published"],
                  ["discarded", "discarded"],
                ]}
                onChoose={(chosen) => change({ status: chosen, message: "" })}
              />
              <Choice
                name="Type"
                value={type ?? ""}
                choices={[["", "all"], ...typeNames(types, type).map((one) => [one, one] as const)]}
                onChoose={(chosen) => change({ type: chosen, message: "" })}
              />
              {canDecide && (
                <>
                  <button type="button" onClick={() => decide({ decision: "requeue", meant })}>
                    Requeue all dead…
                  </button>
                  <button type="button" onClick={() => decide({ decision: "discard", meant })}>
                    Discard all dead…
                  </button>
                </>
              )}
            </>
          }
        />
      </div>
      {shown !== undefined && <MessageDrawer message={shown} onClose={() => change({ message: "" })} />}
      {dialog}
    </section>
  );
}

function typeNames(types: OutboxResponse["types"], chosen: string | undefined): string[] {
  return [...new Set([...types.map((one) => one.type), ...(chosen === undefined ? [] : [chosen])])];
}

function Numbers({ answer }: { readonly answer: OutboxResponse | undefined }) {
  const oldest = answer?.oldestPendingMs ?? null;
  return (
    <div class="tiles">
      <Tile name="Pending" value={count(answer?.pending)} />
      <Tile
        name="Oldest"
        value={oldest === null ? "–" : length(oldest)}
        tone={oldest !== null && oldest > 60_000 ? "warn" : undefined}
      />
      <Tile name="Without a broker" value={count(answer?.unrouted)} note="no broker takes their type" />
      <Tile name="Dead" value={count(answer?.dead)} tone={(answer?.dead ?? 0) > 0 ? "bad" : undefined} />
    </div>
  );
}

type Type = OutboxResponse["types"][number];

function typeColumns(choose: (type: string) => void): readonly Column<Type>[] {
  return [
    {
      name: "Type",
      value: (one) => one.type,
      show: (one) => (
        <button type="button" class="link" onClick={() => choose(one.type)}>
          {one.type}
        </button>
      ),
    },
    { name: "Pending", numeric: true, value: (one) => one.pending, show: (one) => count(one.pending) },
    { name: "Held", numeric: true, value: (one) => one.held, show: (one) => count(one.held) },
    {
      name: "Dead",
      numeric: true,
      value: (one) => one.dead,
      show: (one) => <span class={one.dead > 0 ? "error" : undefined}>{count(one.dead)}</span>,
    },
    { name: "Oldest", value: (one) => one.oldestPendingAt, show: (one) => <Time at={one.oldestPendingAt} /> },
  ];
}
