import { useMemo } from "preact/hooks";
import type { JournalResponse } from "../../../../src/http/contract.ts";
import { Time } from "../../parts/time.tsx";
import { length, now } from "../../preferences/times.ts";
import { attemptsOf, waterfallOf } from "./attempts.ts";
import { visitsOf } from "./history.ts";

export interface AttemptsPanelProps {
  readonly journal: readonly JournalResponse[];
  /** How far the clock of the database is ahead of the clock of the browser. */
  readonly aheadMs: number;
}

/** Where the time went: visits and attempts as bars, and each attempt with its worker, duration and error. */
export function AttemptsPanel({ journal, aheadMs }: AttemptsPanelProps) {
  const attempts = useMemo(() => attemptsOf(journal), [journal]);
  const visits = useMemo(() => visitsOf(journal), [journal]);
  if (attempts.length === 0) return null;
  const last = visits[0];
  const isOver = last === undefined || attempts.every(({ endedAt }) => endedAt !== null);
  const nowMs = isOver ? Date.parse(last?.from ?? attempts[0]!.at) : now.value + aheadMs;
  return (
    <section class="panel attempts" aria-label="Attempts">
      <h2>Attempts</h2>
      <ul class="waterfall">
        {waterfallOf(visits.toReversed(), attempts.toReversed(), nowMs).map((span, at) => (
          <li key={at}>
            <span class="waterfall-name" title={span.name}>
              {span.name}
            </span>
            <span class="waterfall-line" aria-hidden="true">
              <span class={`waterfall-bar ${span.kind}`} style={{ left: `${span.left}%`, width: `${span.width}%` }} />
            </span>
            <span class="quiet number">{length(span.lengthMs)}</span>
          </li>
        ))}
      </ul>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by the keyboard. */}
      <section class="table-scroll" tabIndex={0} aria-label="All attempts">
        <table>
          <thead>
            <tr>
              <th class="number">No.</th>
              <th>Started</th>
              <th class="number">Duration</th>
              <th>Outcome</th>
              <th>Worker</th>
            </tr>
          </thead>
          <tbody>
            {attempts.map((one, at) => (
              <tr key={attempts.length - at}>
                <td class="number">{one.number ?? "–"}</td>
                <td>
                  <Time at={one.at} />
                </td>
                <td class="number">
                  {one.endedAt === null
                    ? `${length(Math.max(0, now.value + aheadMs - Date.parse(one.at)))}, running`
                    : length(Date.parse(one.endedAt) - Date.parse(one.at))}
                </td>
                <td>
                  <span class={one.isFailure ? "error" : undefined}>{one.outcome ?? "running"}</span>
                  {one.error !== undefined && (
                    <div class="small clamped" title={one.error.message}>
                      {one.error.name}: {one.error.message}
                    </div>
                  )}
                </td>
                <td>
                  <span class="clamped">{one.worker ?? "–"}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
