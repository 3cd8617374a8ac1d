import type { BreakerResponse } from "../../../src/http/contract.ts";
import { apiUrl, get, part, post } from "../api.ts";
import { AskReason, type OpenDialog, useDialog } from "../dialogs.tsx";
import { Bar } from "../parts/bar.tsx";
import { Drawer } from "../parts/drawer.tsx";
import { Empty } from "../parts/empty.tsx";
import { ErrorMessage } from "../parts/error-message.tsx";
import { StatePill, type Tone } from "../parts/state-pill.tsx";
import { type Column, Table } from "../parts/table/table.tsx";
import { Time } from "../parts/time.tsx";
import { commandOf } from "../rows.ts";
import { may } from "../session.ts";
import { useFilters } from "../url.ts";
import { usePolling } from "../use-polling.ts";
import { useRequest } from "../use-request.ts";
import "./operating.css";

/** How the outside dependencies are: a breaker that is open keeps work from failing, and burns no attempt. */
export function Breakers() {
  const [filters, change] = useFilters();
  const [dialog, open] = useDialog();
  const { answer, error, again } = useRequest(() => get("/breakers"), []);
  usePolling(again, 2_000);
  const shown = filters.get("breaker");
  return (
    <section>
      <h1>Breakers</h1>
      <ErrorMessage error={error} />
      <Table
        name="breakers"
        rows={answer}
        rowKey={(one) => one.name}
        columns={[
          look((breaker) => change({ breaker })),
          ...columns,
          ...(may("operate") ? [actions(open, again)] : []),
        ]}
        asked={{ url: apiUrl("/breakers"), command: commandOf(["breakers"]) }}
        empty={
          <Empty title="No breakers">
            Say <code>uses: "model"</code> in a state, or use a breaker in a call of a step.
          </Empty>
        }
      />
      {shown !== null && <History key={shown} name={shown} onClose={() => change({ breaker: "" })} />}
      {dialog}
    </section>
  );
}

const tones: Readonly<Record<BreakerResponse["state"], Tone>> = { closed: "good", open: "bad", half_open: "warn" };

function StateOf({ state, forced }: Pick<BreakerResponse, "state" | "forced">) {
  const name = state === "half_open" ? "half-open" : state;
  return <StatePill state={forced === null ? name : `forced ${forced}`} tone={tones[state]} />;
}

function look(open: (name: string) => void): Column<BreakerResponse> {
  return {
    name: "Breaker",
    value: (one) => one.name,
    show: (one) => (
      <button type="button" class="link" onClick={() => open(one.name)}>
        {one.name}
      </button>
    ),
  };
}

const columns: readonly Column<BreakerResponse>[] = [
  { name: "State", value: (one) => one.state, show: (one) => <StateOf {...one} /> },
  { name: "Since", value: (one) => one.since, show: (one) => <Time at={one.since} /> },
  {
    name: "Failures",
    value: (one) => one.calls.failed,
    show: ({ name, calls: { good, failed } }) => (
      <span class="measure">
        <Bar name={`Failed calls of ${name}`} value={failed} of={good + failed} tone={failed > good ? "bad" : "warn"} />
        <span class="number small">
          {failed} of {good + failed}
        </span>
      </span>
    ),
  },
  {
    name: "Next probe",
    value: (one) => one.openUntil,
    show: ({ state, openUntil, probes }) =>
      state === "half_open" ? (
        <span class="nowrap">
          {probes.good} of {probes.needed} good{probes.underWay && ", one in progress"}
        </span>
      ) : (
        <Time at={openUntil} />
      ),
  },
  {
    name: "Used by",
    value: (one) => one.usedBy.join(" "),
    show: ({ usedBy }) =>
      usedBy.length <= 2 ? (
        <span class="words">{usedBy.join(", ") || <span class="quiet">–</span>}</span>
      ) : (
        <details class="words">
          <summary>{usedBy.length} states</summary>
          {usedBy.map((state) => (
            <div key={state} class="small">
              {state}
            </div>
          ))}
        </details>
      ),
  },
  {
    name: "Why",
    value: (one) => one.reason,
    show: ({ reason, actor }) => (
      <span class="words">
        {reason ?? <span class="quiet">–</span>}
        {actor !== null && <span class="quiet"> ({actor})</span>}
      </span>
    ),
  },
];

function actions(open: OpenDialog, again: () => Promise<void>): Column<BreakerResponse> {
  const force = ({ name }: BreakerResponse, to: "open" | "closed") =>
    open((close) => (
      <AskReason
        title={`Force ${name} ${to}`}
        action={`Force ${to}`}
        needed
        dangerous={to === "open"}
        said={`${name} is forced ${to}.`}
        onDo={async (reason) => {
          await post(`/breakers/${part(name)}/force`, { to, reason });
          await again();
        }}
        onClose={close}
      >
        <p>
          {to === "open"
            ? "No step that uses it starts, in any process, until you release it."
            : "Its calls are made whatever their outcome, until you release it."}
        </p>
      </AskReason>
    ));
  const release = ({ name }: BreakerResponse) =>
    open((close) => (
      <AskReason
        title={`Release ${name}`}
        action="Release"
        said={`${name} is released.`}
        onDo={async (reason) => {
          await post(`/breakers/${part(name)}/release`, { reason });
          await again();
        }}
        onClose={close}
      >
        <p>An open breaker admits probes first.</p>
      </AskReason>
    ));
  return {
    name: "Actions",
    show: (one) => (
      <span class="row-actions">
        {one.forced !== null && (
          <button type="button" onClick={() => release(one)}>
            Release…
          </button>
        )}
        {one.forced !== "open" && (
          <button type="button" onClick={() => force(one, "open")}>
            Force open…
          </button>
        )}
        {one.forced !== "closed" && (
          <button type="button" onClick={() => force(one, "closed")}>
            Force closed…
          </button>
        )}
      </span>
    ),
  };
}

const causes: Readonly<Record<string, string>> = {
  failures: "too many calls failed",
  rested: "its pause ended",
  probe_failed: "a probe failed",
  probes_passed: "its probes succeeded",
  forced: "an operator forced it",
  released: "an operator released it",
};

function History({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const ask = () => get(`/breakers/${part(name)}/history`, { limit: 100 });
  const { answer, error, again } = useRequest(ask, [name]);
  usePolling(again);
  return (
    <Drawer title={name} name={`History of ${name}`} onClose={onClose} wide>
      <ErrorMessage error={error} />
      {answer?.length === 0 && <p class="quiet">No changes yet.</p>}
      {answer?.map((change) => (
        <div key={change.number} class="said">
          <StateOf state={change.to} forced={null} /> {causes[change.cause] ?? change.cause}
          {change.good + change.failed > 0 && ` (${change.failed} of ${change.good + change.failed} failed)`}
          <div class="small quiet">
            <Time at={change.at} />
            {change.actor !== null && ` by ${change.actor}`}
            {change.reason !== null && `: ${change.reason}`}
          </div>
        </div>
      ))}
    </Drawer>
  );
}
