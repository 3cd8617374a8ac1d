import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { InstanceResponse } from "../../../../src/http/contract.ts";
import { get } from "../../api.ts";
import { lifecycles } from "../../lifecycles.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Id } from "../../parts/id.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { usePages } from "../../use-pages.ts";
import { useRefresh } from "../../use-refresh.ts";
import { useRequest } from "../../use-request.ts";
import { InstanceFilters } from "./instance-filters.tsx";
import { instanceQuery } from "./instance-query.ts";
import { SendMany } from "./send-many.tsx";
import { StartDialog } from "./start-dialog.tsx";

const size = 50;

const columns: readonly Column<InstanceResponse>[] = [
  { name: "Id", show: ({ id }) => <Id id={id} href={`/instances/${id}`} />, value: ({ id }) => id },
  {
    name: "Key",
    show: ({ id, key }) =>
      key === null ? (
        <span class="quiet">–</span>
      ) : (
        <Link class="clamped" href={`/instances/${id}`} title={key}>
          {key}
        </Link>
      ),
    value: ({ key }) => key,
  },
  {
    name: "State",
    show: ({ state, outcome }) => <StatePill state={state} outcome={outcome} />,
    value: ({ state }) => state,
  },
  {
    name: "Failure",
    show: ({ failure }) =>
      failure !== null && <span title={failure.error?.message}>{failure.reason.replaceAll("_", " ")}</span>,
    value: ({ failure }) => failure?.reason,
  },
  { name: "Moves", numeric: true, show: ({ version }) => version, value: ({ version }) => version },
  { name: "Moved", show: ({ movedAt }) => <Time at={movedAt} />, value: ({ movedAt }) => movedAt },
  { name: "Started", show: ({ createdAt }) => <Time at={createdAt} />, value: ({ createdAt }) => createdAt },
  { name: "Deadline", show: ({ deadlineAt }) => <Time at={deadlineAt} />, value: ({ deadlineAt }) => deadlineAt },
  {
    name: "Data",
    show: ({ data }) => <span class="preview">{JSON.stringify(data)}</span>,
    value: ({ data }) => JSON.stringify(data),
  },
];

/** The instances of a lifecycle. The server filters, counts and pages; the filters are in the URL. */
export function Instances() {
  const [filters, change] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [doing, setDoing] = useState<"start" | "send">();
  const lifecycle = filters.get("lifecycle") ?? lifecycles.value[0]?.name ?? "";
  const asked = instanceQuery(lifecycle, filters, size);
  const { path, filter } = asked;
  const isSearch = path === "/search";
  const { answer, error, more, again } = usePages<InstanceResponse>(
    async (after) => (lifecycle === "" ? [] : get(path, { ...filter, limit: size, after })),
    { size, idOf: ({ id }) => id, dependsOn: [asked.url] },
  );
  const total = useRequest(
    async () => (lifecycle === "" || isSearch ? undefined : get(`${path}/count`, filter)),
    [asked.url],
  );
  useRefresh(async () => {
    if (chosen.size === 0) await Promise.all([again(), total.again()]);
  });
  const rows = answer?.filter(({ id }) => chosen.has(id)) ?? [];
  const close = () => setDoing(undefined);
  return (
    <section>
      <div class="head">
        <h1>Instances</h1>
        <span class="grow" />
        {may("send") && lifecycle !== "" && (
          <button type="button" class="primary" onClick={() => setDoing("start")}>
            Start one
          </button>
        )}
      </div>
      <InstanceFilters
        lifecycle={lifecycle}
        filters={filters}
        onChange={(changes) => {
          setChosen(new Set());
          change(changes);
        }}
      />
      <ErrorMessage error={error} />
      <Table
        name="instances"
        rows={answer}
        columns={columns}
        rowKey={({ id }) => id}
        more={isSearch ? undefined : more}
        total={total.answer}
        chosen={may("send") ? chosen : undefined}
        onChoose={setChosen}
        tools={
          rows.length > 0 && (
            <>
              <b>{rows.length} chosen</b>
              <button type="button" onClick={() => setDoing("send")}>
                Send event
              </button>
              <button type="button" class="bare" onClick={() => setChosen(new Set())}>
                Clear
              </button>
            </>
          )
        }
        asked={asked}
        empty={
          <Empty title="No matching instances">
            {Object.keys(filter).length === 0 ? "Start one here or through the API." : "Change the filter."}
          </Empty>
        }
      />
      {doing === "start" && <StartDialog lifecycle={lifecycle} onClose={close} />}
      {doing === "send" && <SendMany instances={rows} onClose={close} onDone={() => void again()} />}
    </section>
  );
}
