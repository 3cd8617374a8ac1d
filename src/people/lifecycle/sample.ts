import type { Json } from "../../base/json.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import type { QueueSettings } from "../../definition/queue-settings.ts";
import {
  flag,
  json,
  number,
  optional,
  orNull,
  record,
  recordSchema,
  text,
  whole,
} from "../../definition/schema/record-schema.ts";

export type SampleData = {
  readonly queue: string;
  /** What the labeler sees. */
  readonly content: Json;
  /** Its initial number of slots, and the maximum number of attempts in total. */
  readonly overlap: number;
  readonly maxAttemptsTotal: number;
  /** Its rank in the queue, lower first; or the rank of each slot, by number. */
  readonly rank: number;
  readonly rankedBySlot: boolean;
  /** The known correct label, to measure labelers. */
  readonly gold: Json | null;
  readonly isGold: boolean;
  readonly review: boolean;
  readonly agreementWanted: QueueSettings["agreement"];
  readonly consensus: Json | null;
  readonly agreement: number | null;
  /** Why it has no result, or that its labels contradict the gold label. */
  readonly reason: string | null;
  /** The crowd job that posted it, which decides when it ends. */
  readonly postedBy?: { readonly lifecycle: string; readonly id: string };
  /** The end of its availability. Defaults to no end. */
  readonly closesAtMs?: number;
  /** The time after which unreviewed labels are accepted. Defaults to never. */
  readonly acceptAfterMs?: number;
};

/** Events name the last change of the sample that they considered, if any. */
type ConsideredChanges = { readonly changes: number | null };

/** Why there is no result, and the agreement of the existing labels. */
type NoResult = ConsideredChanges & { readonly reason: string; readonly agreement: number | null };

/** A lead's review of a label. */
export type LabelReview = { readonly labelId: string; readonly comment: string | null };

/** What a posted sample gets in addition: slots, tries for reopened slots, and time. */
export type Reopening = { readonly slots: number; readonly attempts: number; readonly closesAtMs: number };

const considered = { changes: orNull(whole) };
const verdict = recordSchema<LabelReview>({ labelId: text, comment: orNull(text) });

const sampleData = recordSchema<SampleData>({
  queue: text,
  content: json,
  overlap: whole,
  maxAttemptsTotal: whole,
  rank: number,
  rankedBySlot: flag,
  gold: json,
  isGold: flag,
  review: flag,
  agreementWanted: orNull(record<NonNullable<QueueSettings["agreement"]>>({ atLeast: number, maxOverlap: whole })),
  consensus: json,
  agreement: orNull(number),
  reason: orNull(text),
  postedBy: optional(record<NonNullable<SampleData["postedBy"]>>({ lifecycle: text, id: text })),
  closesAtMs: optional(number),
  acceptAfterMs: optional(number),
});

function noResult({ payload }: { readonly payload: NoResult }) {
  return { reason: payload.reason, agreement: payload.agreement };
}

/** The lifecycle of a sample. The same statement also writes its slots; see `sample-companions.ts`. */
export const sample = lifecycle("pawl_sample", {
  data: sampleData,
  events: {
    agree: recordSchema<ConsideredChanges & { consensus: Json; agreement: number | null; reason?: string | null }>({
      ...considered,
      consensus: json,
      agreement: orNull(number),
      reason: optional(orNull(text)),
    }),
    widen: recordSchema<ConsideredChanges & { agreement: number | null }>({ ...considered, agreement: orNull(number) }),
    exhaust: recordSchema<NoResult>({ ...considered, reason: text, agreement: orNull(number) }),
    unassign: recordSchema<NoResult>({ ...considered, reason: text, agreement: orNull(number) }),
    accept_label: verdict,
    reject_label: verdict,
    accept_late: verdict,
    reopen: recordSchema<{ attempts: number; slots: number }>({ attempts: whole, slots: whole }),
    enlarge: recordSchema<Reopening>({ slots: whole, attempts: whole, closesAtMs: number }),
  },
  builtIns: false,
  initial: "open",
  states: {
    open: {
      timeout: {
        after: ({ data, now }) =>
          data.closesAtMs === undefined ? null : Math.max(data.closesAtMs - Date.parse(now), 0),
        send: "withdraw",
      },
      on: {
        agree: {
          to: "agreed",
          set: ({ payload }) => ({
            consensus: payload.consensus,
            agreement: payload.agreement,
            reason: payload.reason ?? null,
          }),
        },
        widen: { set: ({ payload }) => ({ agreement: payload.agreement }) },
        exhaust: { to: "exhausted", deadLetter: true, set: noResult },
        unassign: { to: "unassignable", deadLetter: true, set: noResult },
        // Reviews of its labels are part of its history.
        accept_label: {},
        reject_label: {},
        accept_late: {},
        enlarge: { to: "open", set: ({ payload }) => ({ closesAtMs: payload.closesAtMs }) }, // Its time limit starts
        // again.
        withdraw: {
          to: "withdrawn",
          set: ({ data, now }) => ({ closesAtMs: Math.min(data.closesAtMs ?? Date.parse(now), Date.parse(now)) }),
        },
        close: "closed",
      },
    },
    // No new assignments; open ones can be finished, and labels can still be reviewed.
    withdrawn: {
      forever: true,
      on: {
        enlarge: [
          {
            to: "open",
            guard: ({ payload, now }) => payload.closesAtMs > Date.parse(now) || "its time limit has expired",
            set: ({ payload }) => ({ closesAtMs: payload.closesAtMs }),
          },
          {},
        ],
        agree: { to: "agreed", set: ({ payload }) => ({ consensus: payload.consensus, agreement: payload.agreement }) },
        accept_label: {},
        reject_label: {},
        close: "closed",
      },
    },
    agreed: { final: "success" },
    exhausted: { forever: true, on: { reopen: { to: "open", set: () => ({ reason: null }) }, close: "closed" } },
    unassignable: { forever: true, on: { reopen: { to: "open", set: () => ({ reason: null }) }, close: "closed" } },
    closed: { final: "failure" },
  },
  onParentEnd: "close", // No instance waits for the answer any more.
});
