import { Link } from "wouter-preact";
import type { OverviewResponse } from "../../../../src/http/contract.ts";
import { get } from "../../api.ts";
import { away } from "../../connection.ts";
import { countIn, lifecycles } from "../../lifecycles.ts";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Icon } from "../../parts/icon.tsx";
import { count, Tile } from "../../parts/tile.tsx";
import { Length } from "../../parts/time.tsx";
import { useRefresh } from "../../use-refresh.ts";
import { useRequest } from "../../use-request.ts";
import { FlowChart } from "./flow-chart.tsx";
import { Guide } from "./guide.tsx";
import { categoryOf } from "./state-category.ts";
import "./overview.css";

/** The overview: a few numbers, the flow of work, and problems. */
export function Overview() {
  const { answer, error, again } = useRequest(() => get("/overview"), []);
  useRefresh(again);
  return (
    <section>
      <h1>Overview</h1>
      <ErrorMessage error={error} />
      {answer !== undefined && (
        <>
          <Tiles overview={answer} />
          {isEmpty(answer) && <Guide />}
          <div class="overview">
            <section class="panel">
              <h2>Flow, per minute</h2>
              <FlowChart />
            </section>
            <Needs needs={answer.needs} isKnown={error === undefined && away.value === undefined} />
          </div>
        </>
      )}
      <Lifecycles />
    </section>
  );
}

function isEmpty({ inFlight, done, failed, discarded }: OverviewResponse): boolean {
  return inFlight + done + failed + discarded === 0;
}

function Tiles({ overview }: { readonly overview: OverviewResponse }) {
  const { workers, outbox, oldestReadyMs } = overview;
  const silent = workers.silent === 0 ? "alive" : `${workers.silent} silent`;
  return (
    <div class="tiles">
      <Tile name="In flight" value={count(overview.inFlight)} note="instances" href="/instances" />
      <Tile name="Done" value={count(overview.done)} note="instances" />
      <Tile
        name="Failed"
        value={count(overview.failed)}
        note="instances"
        tone={overview.failed > 0 ? "bad" : undefined}
      />
      <Tile
        name="Dead letters"
        note="open"
        value={count(overview.deadLetters)}
        href="/dead"
        tone={overview.deadLetters > 0 ? "bad" : undefined}
      />
      <Tile name="Oldest ready" value={<Length ms={oldestReadyMs} />} note="task" href="/workers" />
      <Tile
        name="Breakers"
        note="open"
        value={count(overview.openBreakers)}
        href="/breakers"
        tone={overview.openBreakers > 0 ? "bad" : undefined}
      />
      <Tile name="People" value={count(overview.peopleWaiting)} note="waiting" href="/people" />
      <Tile
        name="Workers"
        value={count(workers.alive)}
        note={silent}
        href="/workers"
        tone={workers.silent > 0 ? "warn" : undefined}
      />
      <Tile
        name="Outbox"
        value={count(outbox.pending)}
        note="pending"
        href="/outbox"
        tone={outbox.dead > 0 ? "bad" : undefined}
      />
    </div>
  );
}

/** Without a response, it is not known whether anything needs attention. */
function Needs({ needs, isKnown }: Pick<OverviewResponse, "needs"> & { readonly isKnown: boolean }) {
  return (
    <section class="panel">
      <h2>Needs attention</h2>
      {needs.length === 0 ? (
        <p class="quiet all-well">{isKnown ? "Nothing needs attention." : "Not known while there is no response."}</p>
      ) : (
        <ul class="needs">
          {needs.map(({ text, page, level, what }) => (
            <li key={what + text} class={level}>
              <span>{text}</span>
              <Link href={page} aria-label={`View: ${text}`}>
                View
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Each lifecycle with its instance counts; the bar shows their categories. */
function Lifecycles() {
  if (lifecycles.value.length === 0) return null;
  return (
    <section class="panel lifecycles">
      <h2>Lifecycles</h2>
      <ul>
        {lifecycles.value.map((lifecycle) => {
          const sums = { inFlight: 0, done: 0, failed: 0, discarded: 0 };
          for (const state of lifecycle.states) sums[categoryOf(state)] += countIn(lifecycle, state.name);
          const total = sums.inFlight + sums.done + sums.failed + sums.discarded;
          return (
            <li key={lifecycle.name}>
              <Link href={`/lifecycles/${lifecycle.name}`}>
                <Icon name="lifecycle" />
                <span>{lifecycle.name}</span>
              </Link>
              <span class="bar" aria-hidden="true">
                {(["done", "failed", "inFlight"] as const).map((one) => (
                  <span key={one} class={one} style={{ width: total === 0 ? "0" : `${(100 * sums[one]) / total}%` }} />
                ))}
              </span>
              <span class="number">{count(sums.inFlight)} in flight</span>
              <span class="number">{count(sums.done)} done</span>
              <span class="number">{count(sums.failed)} failed</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
