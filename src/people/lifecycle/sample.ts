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
  /** What a labeler is shown. */
  readonly content: Json;
  /** How many slots it had at first, and how often it may be worked on in all. */
  readonly overlap: number;
  readonly maxAttemptsTotal: number;
  /** Its place in the order of the queue: the lower, the sooner; or that of each of its slots, by its number. */
  readonly rank: number;
  readonly rankedBySlot: boolean;
  /** The label that is known to be right, to see how well labelers do. */
  readonly gold: Json | null;
  readonly isGold: boolean;
  readonly review: boolean;
  readonly agreementWanted: QueueSettings["agreement"];
  readonly consensus: Json | null;
  readonly agreement: number | null;
  /** Why it has no consensus, or that its labels contradict the gold label. */
  readonly reason: string | null;
  /** The crowd job that has posted it: whatever its labels, it ends when that job says so. */
  readonly postedBy?: { readonly lifecycle: string; readonly id: string };
  /** Until when it is handed out; for ever unless given. */
  readonly closesAtMs?: number;
  /** After how long a label is accepted that nobody has reviewed; never unless given. */
  readonly acceptAfterMs?: number;
};

/** Every event says up to which of the sample's changes it was looked at, if that is why it is sent. */
type Looked = { readonly changes: number | null };

/** Why there is no consensus, and how far the labels agree that there are. */
type GivenUp = Looked & { readonly reason: string; readonly agreement: number | null };

/** What a lead says of a label. */
export type Verdict = { readonly labelId: string; readonly comment: string | null };

/** What a posted sample gets more: slots, tries for what is open again, and time. */
export type More = { readonly slots: number; readonly attempts: number; readonly closesAtMs: number };

const looked = { changes: orNull(whole) };
const verdict = recordSchema<Verdict>({ labelId: text, comment: orNull(text) });

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

function givenUp({ payload }: { readonly payload: GivenUp }) {
  return { reason: payload.reason, agreement: payload.agreement };
}

/** One thing to be labeled. What it does to its slots is written beside it, in the same statement; see `beside-samples.ts`. */
export const sample = lifecycle("pawl_sample", {
  data: sampleData,
  events: {
    agree: recordSchema<Looked & { consensus: Json; agreement: number | null; reason?: string | null }>({
      ...looked,
      consensus: json,
      agreement: orNull(number),
      reason: optional(orNull(text)),
    }),
    widen: recordSchema<Looked & { agreement: number | null }>({ ...looked, agreement: orNull(number) }),
    exhaust: recordSchema<GivenUp>({ ...looked, reason: text, agreement: orNull(number) }),
    unassign: recordSchema<GivenUp>({ ...looked, reason: text, agreement: orNull(number) }),
    accept_label: verdict,
    reject_label: verdict,
    accept_late: verdict,
    reopen: recordSchema<{ attempts: number; slots: number }>({ attempts: whole, slots: whole }),
    enlarge: recordSchema<More>({ slots: whole, attempts: whole, closesAtMs: number }),
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
        exhaust: { to: "exhausted", deadLetter: true, set: givenUp },
        unassign: { to: "unassignable", deadLetter: true, set: givenUp },
        // What a lead says of its labels is part of its history.
        accept_label: {},
        reject_label: {},
        accept_late: {},
        enlarge: { to: "open", set: ({ payload }) => ({ closesAtMs: payload.closesAtMs }) }, // Its time begins again.
        withdraw: {
          to: "withdrawn",
          set: ({ data, now }) => ({ closesAtMs: Math.min(data.closesAtMs ?? Date.parse(now), Date.parse(now)) }),
        },
        close: "closed",
      },
    },
    // Nobody new is given it; who has it in hand may still label it, and what was labeled is still reviewed.
    withdrawn: {
      forever: true,
      on: {
        enlarge: [
          {
            to: "open",
            guard: ({ payload, now }) => payload.closesAtMs > Date.parse(now) || "its time is over",
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
  onParentEnd: "close", // Nobody waits for the answer any more.
});
