import { useEffect } from "preact/hooks";
import { Link } from "wouter-preact";
import type { DeskQueueResponse } from "../../../src/http/contract.ts";
import { Empty } from "../parts/empty.tsx";
import { ErrorMessage } from "../parts/error-message.tsx";
import { useRequest } from "../use-request.ts";
import { DeskApi } from "./api.ts";
import { canChoose, labeler, workAs } from "./labeler.ts";
import { lasting } from "./times.ts";
import { Top } from "./top.tsx";

const everyMs = 15_000;

/** The queues that a labeler may work on. */
export function QueueList() {
  const { answer, error, again } = useRequest(() => new DeskApi(labeler.value).desk(), [labeler.value]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void again();
    }, everyMs);
    return () => clearInterval(timer);
  }, [labeler.value]);
  return (
    <div class="desk">
      <Top />
      <main class="desk-page">
        <h1>Your queues</h1>
        <ErrorMessage error={error} />
        {answer?.queues.length === 0 && (
          <Empty title="No queues are open to you">Ask a lead for access. This page refreshes automatically.</Empty>
        )}
        <ul class="desk-queues">
          {answer?.queues.map((queue) => (
            <Card key={queue.name} queue={queue} />
          ))}
        </ul>
        {canChoose.value && <As />}
      </main>
    </div>
  );
}

function Card({ queue }: { readonly queue: DeskQueueResponse }) {
  const { name, instructions, assignments, done, medianSeconds } = queue;
  const aim = instructions?.split("\n")[0] ?? descriptionOf(queue.labelSchema);
  return (
    <li>
      <Link href={`/desk/${encodeURIComponent(name)}`} class="desk-queue">
        <span class="desk-queue-name">{name}</span>
        <span class="desk-queue-aim quiet">{aim}</span>
        <span class="desk-queue-counts">
          <b class="number">{waitingOf(queue)}</b>{" "}
          {assignments.length > 0 && <span class="pill info">{assignments.length} open</span>}
        </span>
        <span class="quiet number">
          {done} done today{medianSeconds !== null && `, ${lasting(medianSeconds)} each`}
        </span>
      </Link>
    </li>
  );
}

/** How many wait, in words. */
export function waitingOf({ waiting, waitsMore, active }: DeskQueueResponse): string {
  if (!active) return "Inactive";
  if (waiting === 0) return waitsMore ? "Samples waiting" : "Nothing waiting";
  return `${waiting.toLocaleString("en")}${waitsMore ? " or more" : ""} waiting`;
}

function descriptionOf(schema: Readonly<Record<string, unknown>>): string | undefined {
  return typeof schema.description === "string" ? schema.description : undefined;
}

/** Users who are not labelers choose one. */
function As() {
  const change = (event: SubmitEvent) => {
    event.preventDefault();
    const name = (new FormData(event.currentTarget as HTMLFormElement).get("labeler") as string).trim();
    if (name !== "") workAs(name);
  };
  return (
    <form class="desk-as" onSubmit={change}>
      <label>
        You label as
        <input name="labeler" defaultValue={labeler.value} required autocomplete="off" />
      </label>
      <button type="submit">Change</button>
    </form>
  );
}
