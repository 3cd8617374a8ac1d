import { useMemo, useState } from "preact/hooks";
import type { AttemptResponse, JournalResponse, MoveResponse } from "../../../../src/http/contract.ts";
import { Empty } from "../../parts/empty.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { length, now } from "../../preferences/times.ts";
import { type Change, type Entry, errorIn, isFailure, only, type Shown, type Visit, visitsOf } from "./history.ts";

const kinds: readonly (readonly [Shown, string])[] = [
  ["all", "Everything"],
  ["moves", "Moves"],
  ["attempts", "Attempts"],
  ["failures", "Only failures"],
];

/** All that happened to an instance, the newest first, by the visits that it made. */
export function Timeline({ journal }: { readonly journal: readonly JournalResponse[] }) {
  const [shown, setShown] = useState<Shown>("all");
  const visits = useMemo(() => visitsOf(journal), [journal]);
  const fitting = only(visits, shown);
  return (
    <section class="panel">
      <div class="head">
        <h2>Timeline</h2>
        <span class="grow" />
        <fieldset class="choice">
          <legend class="hidden">What is shown</legend>
          {kinds.map(([kind, name]) => (
            <button key={kind} type="button" aria-pressed={shown === kind} onClick={() => setShown(kind)}>
              {name}
            </button>
          ))}
        </fieldset>
      </div>
      {fitting.length === 0 && <Empty title={shown === "failures" ? "No failures" : "No entries of this kind"} />}
      <ol class="visits">
        {fitting.map((visit) => (
          <VisitItem key={visit.from + visit.state} visit={visit} />
        ))}
      </ol>
    </section>
  );
}

function VisitItem({ visit: { state, from, to, entries } }: { readonly visit: Visit }) {
  const dwellMs = (to === null ? now.value : Date.parse(to)) - Date.parse(from);
  return (
    <li class="visit">
      <div class="visit-head">
        <StatePill state={state} />
        <span class="quiet">{to === null ? `for ${length(Math.max(0, dwellMs))}` : `stayed ${length(dwellMs)}`}</span>
      </div>
      <ol class="entries">
        {entries.map((entry, at) => (
          <EntryItem key={entries.length - at} entry={entry} />
        ))}
      </ol>
    </li>
  );
}

function EntryItem({ entry: { said, changes } }: { readonly entry: Entry }) {
  const carried = said.kind === "move" ? said.payload : said.detail;
  const error = errorIn(carried);
  const look = isFailure(said) ? "entry bad" : said.kind === "move" ? "entry move" : "entry";
  return (
    <li class={look}>
      <div class="entry-line">
        {said.kind === "move" ? <MoveLine move={said} /> : <AttemptLine attempt={said} />}
        <span class="grow" />
        <span class="quiet">
          <Time at={said.at} />
        </span>
      </div>
      {error !== undefined && (
        <details class="stack">
          <summary>
            <b>{error.name}</b>: {error.message}
          </summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
          <pre tabIndex={0}>{error.stack ?? "No stack trace."}</pre>
        </details>
      )}
      {changes.length > 0 && <Changes changes={changes} />}
      {error === undefined && carried !== null && carried !== undefined && (
        <details class="carried">
          <summary>{said.kind === "move" ? "Payload" : "Details"}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
          <pre tabIndex={0}>{JSON.stringify(carried, undefined, 2)}</pre>
        </details>
      )}
    </li>
  );
}

const sources: Readonly<Record<MoveResponse["source"], string>> = {
  call: "a call",
  worker: "a worker",
  timer: "a timer",
  callback: "a callback",
  pawl: "Pawl",
};

function MoveLine({ move: { version, event, from, to, actor, source, reason } }: { readonly move: MoveResponse }) {
  return (
    <span>
      <span class="quiet number">{version}</span> <b>{event}</b>{" "}
      {from !== null && (
        <span class="quiet">
          {from} → {to}
        </span>
      )}{" "}
      <span class="quiet">by {actor ?? sources[source]}</span>
      {reason !== null && <span class="reason"> “{reason}”</span>}
    </span>
  );
}

const attemptWords: Readonly<Record<AttemptResponse["what"], string>> = {
  claimed: "claimed",
  failed: "failed",
  lapsed: "lost with its worker",
  released: "released",
  deferred: "deferred",
  refused: "result refused",
  asked: "asked",
};

function AttemptLine({ attempt: { what, attempt, worker, lane } }: { readonly attempt: AttemptResponse }) {
  return (
    <span>
      {attempt === null ? "" : `Attempt ${attempt} `}
      <b>{attemptWords[what]}</b> <span class="quiet">{worker === null ? lane : `by ${worker}`}</span>
    </span>
  );
}

function Changes({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <ul class="changes" aria-label="What changed">
      {changes.map(({ key, before, after }) => (
        <li key={key}>
          <span class="json-key">{key}: </span>
          {before !== undefined && <del>{brief(before)}</del>} {after !== undefined && <ins>{brief(after)}</ins>}
        </li>
      ))}
    </ul>
  );
}

function brief(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
