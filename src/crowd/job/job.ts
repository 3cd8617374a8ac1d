import { durationMs } from "../../base/duration.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import { json, listOf, number, orNull, recordSchema, text, whole } from "../../definition/schema/record-schema.ts";
import { breakerName, type CrowdLifecycles, marketRetry } from "../crowd-lifecycles.ts";
import { type Ended, type JobData, jobData, type Wanted } from "../data.ts";
import { closeDiscardedJob, closeJob } from "../marketplace-calls/close.ts";
import { extendJob } from "../marketplace-calls/extend.ts";
import { publishJob } from "../marketplace-calls/publish.ts";
import { syncJob } from "../marketplace-calls/sync-job.ts";
import { jobName } from "../names.ts";
import { concludeJob } from "./conclude-job.ts";

const ended = recordSchema<Ended>({
  labels: listOf(json),
  consensus: json,
  agreement: orNull(number),
  approved: whole,
  rejected: whole,
  reason: orNull(text),
});

/**
 * One question to a crowd. It waits in `running` and syncs with the marketplace whenever something may have happened: a
 * notification of a submission, a decision about one, or a timeout. Events during a sync cause another one. So all
 * changes go through one flow, one at a time.
 */
export function jobOf(family: CrowdLifecycles) {
  const there = { uses: breakerName(family), retry: marketRetry };
  const ending = {
    set: ({ payload }: { payload: Ended }) => ({ ...payload }),
    after: concludeJob(family),
  };
  const again = { set: () => ({ again: true }) };
  const notifications = { notice: again, progress: again };
  const close = { to: "closing", set: () => ({ closing: true }) } as const;
  const stays = { set: () => ({ closing: true }) };
  const wentOn = [
    {
      to: "syncing",
      guard: ({ data }: { data: JobData }) => data.again || "nothing has changed",
      set: afresh,
    },
    { to: "running" },
  ] as const;
  return lifecycle(jobName(family.crowd), {
    data: jobData,
    events: {
      extend: recordSchema<Wanted>({ places: orNull(whole) }),
      finish: ended,
      fall_short: ended,
      closed: ended,
    },
    initial: "publishing",
    recovery: { maxFailures: 3, after: "10m" },
    on: { discard: { after: closeDiscardedJob(family) } },
    states: {
      publishing: {
        run: publishJob(family),
        ...there,
        on: {
          published: [{ to: "closing", guard: ({ data }) => data.closing || "it is needed" }, ...wentOn],
          close: stays,
          notice: again, // A worker may be quicker than the marketplace's reply.
        },
      },
      running: {
        timeout: { after: family.crowd.syncInterval, send: "sweep" },
        on: { notice: "syncing", progress: "syncing", sweep: "syncing", close },
        recoverWith: "sweep",
      },
      syncing: {
        run: syncJob(family),
        ...there,
        on: {
          wait: wentOn,
          extend: { to: "extending", set: ({ payload, now }) => ({ aim: aimOf(family, payload, now) }) },
          finish: { to: "finished", ...ending },
          fall_short: { to: "incomplete", deadLetter: true, ...ending },
          closed: { to: "closed", ...ending },
          close,
          ...notifications,
        },
      },
      extending: { run: extendJob(family), ...there, on: { extended: wentOn, close, ...notifications } },
      closing: {
        run: closeJob(family),
        ...there,
        on: { closed_there: { to: "syncing", set: afresh }, close: stays, ...notifications },
      },
      finished: { final: "success" },
      incomplete: { final: "failure" },
      closed: { final: "failure" },
      failed: { on: { close: { ...close, guard: wasPublished }, ...notifications } },
    },
    onParentEnd: "close", // The asking instance has ended.
  });
}

/** Time counts from the sync that found the job overdue, by the database's clock, so it is the same in all attempts. */
function aimOf({ crowd }: CrowdLifecycles, { places }: Wanted, now: string): JobData["aim"] {
  if (places !== null) return { places, until: null };
  return { places: null, until: new Date(Date.parse(now) + durationMs(crowd.lifetime, "lifetime")).toISOString() };
}

function afresh(): Partial<JobData> {
  return { again: false };
}

function wasPublished({ data }: { data: JobData }): true | string {
  return data.remotes.length > 0 || "it was never published; discard it with pawl.crowd.discard()";
}
