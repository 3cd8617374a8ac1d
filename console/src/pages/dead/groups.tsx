import { Link } from "wouter-preact";
import type { DeadLetterGroupResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get } from "../../api.ts";
import type { OpenDialog } from "../../dialogs.tsx";
import { lifecycles } from "../../lifecycles.ts";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { count } from "../../parts/tile.tsx";
import { Time } from "../../parts/time.tsx";
import { commandOf } from "../../rows.ts";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { DecideMany } from "./decide-many.tsx";
import { filterQuery, kinds, type LetterFilter, letterFilterOf, spans } from "./letter-filter.ts";

/** Open letters by place and error: most have one cause, however many letters there are. */
export function Groups({ open }: { readonly open: OpenDialog }) {
  const [filters, change] = useFilters();
  const find = () =>
    get("/dead-letter-groups", {
      ...filterQuery(letterFilterOf(filters, Date.now())),
      limit: 500,
    });
  const { answer, error, again } = useRequest(find, [filters]);
  usePolling(again);
  const decide = (decision: "requeue" | "discard", which: LetterFilter) =>
    open((close) => <DecideMany decision={decision} which={which} onClose={close} />);
  const which = letterFilterOf(filters, Date.now());
  return (
    <>
      <ErrorMessage error={error} />
      <Table
        name="groups"
        rows={answer}
        rowKey={(group) => group.fingerprint}
        columns={may("operate") ? [...columns, actions(decide)] : columns}
        asked={{
          url: apiUrl("/dead-letter-groups", filterQuery(which)),
          command: commandOf(["dead", "list", ...[which.lifecycle ?? []].flat()], { groups: true }),
        }}
        empty={
          <Empty title="No dead letters">
            Work that exhausts its attempts or is refused permanently appears here and waits for a decision.
          </Empty>
        }
        tools={
          <>
            <Choice
              name="Lifecycle"
              value={filters.get("lifecycle") ?? ""}
              choices={[["", "all"], ...lifecycles.value.map(({ name }) => [name, name] as const)]}
              onChoose={(lifecycle) => change({ lifecycle })}
            />
            <Choice
              name="About"
              value={filters.get("kind") ?? ""}
              choices={kinds as readonly (readonly [string, string])[]}
              onChoose={(kind) => change({ kind })}
            />
            <Choice
              name="Since"
              value={filters.get("hours") ?? ""}
              choices={spans as readonly (readonly [string, string])[]}
              onChoose={(hours) => change({ hours })}
            />
            {may("operate") && (answer?.length ?? 0) > 0 && (
              <>
                <button type="button" onClick={() => decide("requeue", which)}>
                  Requeue all matching…
                </button>
                <button type="button" onClick={() => decide("discard", which)}>
                  Discard all matching…
                </button>
              </>
            )}
          </>
        }
      />
    </>
  );
}

const columns: readonly Column<DeadLetterGroupResponse>[] = [
  { name: "Letters", numeric: true, value: (group) => group.letters, show: (group) => <b>{count(group.letters)}</b> },
  {
    name: "Error",
    value: (group) => group.pattern,
    show: (group) => (
      <Link class="fault" href={`/dead/${group.fingerprint}`}>
        {group.pattern}
      </Link>
    ),
  },
  {
    name: "Where",
    value: (group) => `${group.lifecycle}/${group.origin}`,
    show: (group) => (
      <span class="nowrap">
        {group.lifecycle} <StatePill state={group.origin} tone="plain" />
      </span>
    ),
  },
  { name: "Why", value: (group) => group.reasons.join(" "), show: (group) => group.reasons.join(", ") },
  {
    name: "First seen",
    value: (group) => group.firstAt,
    show: (group) => <Time at={group.firstAt} />,
  },
  {
    name: "Last seen",
    value: (group) => group.lastAt,
    show: (group) => <Time at={group.lastAt} />,
  },
];

function actions(
  decide: (decision: "requeue" | "discard", which: LetterFilter) => void,
): Column<DeadLetterGroupResponse> {
  return {
    name: "Actions",
    show: ({ fingerprint, pattern }) => (
      <span class="row-actions">
        <button type="button" aria-label={`Requeue: ${pattern}`} onClick={() => decide("requeue", { fingerprint })}>
          Requeue…
        </button>
        <button type="button" aria-label={`Discard: ${pattern}`} onClick={() => decide("discard", { fingerprint })}>
          Discard…
        </button>
      </span>
    ),
  };
}
