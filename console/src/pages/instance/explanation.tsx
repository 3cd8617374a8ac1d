import { useEffect } from "preact/hooks";
import { Link } from "wouter-preact";
import type { ExplanationResponse } from "../../../../src/http/contract.ts";
import { part } from "../../api.ts";
import { Icon } from "../../parts/icon.tsx";
import { countdown, length, local, now, timeMode, utc } from "../../preferences/times.ts";

export interface ExplanationProps {
  readonly explanation: ExplanationResponse;
  /** How far the clock of the database is ahead of the clock of the browser. */
  readonly aheadMs: number;
  /** Called when what happens next is due. */
  readonly onDue: () => void;
}

/** Why an instance does not move: whether it is stuck, what it waits for, what happens next, and how it recovers. */
export function Explanation({ explanation, aheadMs, onDue }: ExplanationProps) {
  const { waitingFor, next, idle, stuck, recovery, outcome } = explanation;
  useDue(explanation, aheadMs, onDue);
  if (outcome !== null && waitingFor.length === 0) return null;
  return (
    <section class={stuck === null ? "panel explanation" : "panel explanation bad"} aria-label="Why it does not move">
      {stuck !== null && (
        <p class="stuck">
          <Icon name="dead" />
          <span>
            <b>
              Stuck for <Elapsed since={stuck.since} aheadMs={aheadMs} />.
            </b>{" "}
            <Sentence text={stuck.sentence} /> <b>{stuck.remedy}</b>
          </span>
        </p>
      )}
      <h2>Waiting for</h2>
      <ul class="waits">
        {waitingFor.map((wait, at) => (
          <li key={at}>
            <span class="wait-kind">{nameOf(wait)}</span>
            <span class="wait-text">
              <Sentence text={wait.sentence} /> <WaitLink wait={wait} lifecycle={explanation.lifecycle} />
              <Progress wait={wait} />
            </span>
            <span class="wait-times quiet number">
              for <Elapsed since={wait.since} aheadMs={aheadMs} />
              {wait.until !== null && !isRunning(wait) && (
                <>
                  {" · "}
                  <Left until={wait.until} aheadMs={aheadMs} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {outcome === null && (
        <p class="next">
          <b>Next</b>
          <span class="wait-text">
            <Sentence text={next?.sentence ?? idle ?? "Nothing happens automatically."} />
          </span>
          {next !== null && next.at !== null && (
            <span class="wait-times number">
              <Left until={next.at} aheadMs={aheadMs} />
            </span>
          )}
        </p>
      )}
      {recovery !== null && recovery.sentences.length > 0 && (
        <details class="recovery" open={recovery.failure !== null}>
          <summary>{recovery.failure === null ? "If it fails" : "Failure and recovery"}</summary>
          {recovery.sentences.map((sentence) => (
            <p key={sentence}>
              <Sentence text={sentence} />
            </p>
          ))}
        </details>
      )}
    </section>
  );
}

type Wait = ExplanationResponse["waitingFor"][number];

const names: Readonly<Partial<Record<Wait["kind"], string>>> = {
  effect: "after-effect",
  question: "ask",
  person: "dead letter",
};

function nameOf(wait: Wait): string {
  if (wait.kind === "timer") return wait.timer;
  if (wait.kind === "person" && wait.deadLetter === null) return "person";
  if (wait.kind === "effect" && wait.event === null) return "delivery";
  return names[wait.kind] ?? wait.kind.replaceAll("_", " ");
}

/** Its `until` is the end of its lease, at which nothing happens while the worker lives. */
function isRunning(wait: Wait): boolean {
  return "status" in wait && wait.status === "running";
}

function Progress({ wait }: { readonly wait: Wait }) {
  if (!("status" in wait) || wait.status !== "running" || wait.progress === null) return null;
  return <progress max={1} value={wait.progress.fraction} aria-label="Progress" />;
}

/** Where an operator can act on a wait, or see more of it. */
function WaitLink({ wait, lifecycle }: { readonly wait: Wait; readonly lifecycle: string }) {
  switch (wait.kind) {
    case "people":
      return <Link href={`/instances/${wait.sample}`}>Open sample</Link>;
    case "crowd_job":
      return <Link href={`/instances/${wait.job}`}>Open crowd job</Link>;
    case "person":
      return wait.deadLetter === null ? null : <Link href="/dead">Open dead letters</Link>;
    case "step":
    case "recovery":
    case "effect":
      return wait.status === "ready" ? <LaneLink reason={wait.notClaimed.reason} lifecycle={lifecycle} /> : null;
    default:
      return null;
  }
}

interface LaneLinkProps {
  readonly reason: Extract<Wait, { status: "ready" }>["notClaimed"]["reason"];
  readonly lifecycle: string;
}

function LaneLink({ reason, lifecycle }: LaneLinkProps) {
  if (reason === "paused") return <Link href={`/lifecycles/${part(lifecycle)}`}>Open lifecycle</Link>;
  if (reason === "breaker") return <Link href="/breakers">Open breakers</Link>;
  if (reason === "no_worker" || reason === "worker_outdated") return <Link href="/workers">Open workers</Link>;
  return null;
}

/** A sentence of the server: names in backticks as code, and moments in the format of the top bar. */
function Sentence({ text }: { readonly text: string }) {
  const pieces = text.split(/(`[^`]*`|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC)/);
  return (
    <>
      {pieces.map((piece, at) => {
        if (at % 2 === 0) return piece;
        if (piece.startsWith("`")) return <code key={at}>{piece.slice(1, -1)}</code>;
        const ms = Date.parse(piece.replace(" UTC", "Z"));
        return (
          <time key={at} dateTime={new Date(ms).toISOString()} title={utc(ms)}>
            {timeMode.value === "utc" ? utc(ms) : local(ms)}
          </time>
        );
      })}
    </>
  );
}

interface MomentProps {
  readonly aheadMs: number;
}

function Elapsed({ since, aheadMs }: MomentProps & { readonly since: string }) {
  const ms = Date.parse(since);
  return (
    <time dateTime={since} title={utc(ms)}>
      {length(Math.max(1_000, now.value + aheadMs - ms))}
    </time>
  );
}

/** The time until a moment, updated every second. */
function Left({ until, aheadMs }: MomentProps & { readonly until: string }) {
  const ms = Date.parse(until);
  const leftMs = ms - (now.value + aheadMs);
  return (
    <time dateTime={until} title={utc(ms)} role="timer">
      {leftMs <= 0 ? "due now" : `in ${countdown(leftMs)}`}
    </time>
  );
}

const longestTimerMs = 24 * 3_600_000;

/** Reloads shortly after the next automatic step is due. */
function useDue({ next }: ExplanationResponse, aheadMs: number, onDue: () => void): void {
  const at = next?.at ?? null;
  useEffect(() => {
    const leftMs = at === null ? 0 : Date.parse(at) - (Date.now() + aheadMs);
    if (leftMs <= 0 || leftMs > longestTimerMs) return undefined;
    const timer = setTimeout(onDue, leftMs + 500);
    return () => clearTimeout(timer);
  }, [at]);
}
