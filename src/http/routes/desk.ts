import type { Route } from "../api/route.ts";
import {
  about,
  anything,
  flag,
  id,
  listOf,
  moment,
  named,
  number,
  orNull,
  record,
  type Schema,
  shape,
  text,
  whole,
} from "../api/schema.ts";
import type { DeskAnswer, DeskQueueAnswer, DeskWorkAnswer, DraftAnswer } from "../contract.ts";
import { assignment } from "./people-answer.ts";

const tag = "Desk";
const labeler = about(text, "For whom; a labeler is always himself.");

const queue: Schema = named(
  "DeskQueue",
  shape<DeskQueueAnswer>({
    name: text,
    active: flag,
    instructions: orNull(text),
    labelSchema: about(record, "What is filled in, as JSON Schema."),
    finishWithinMs: whole,
    graceMs: whole,
    skipRequiresReason: flag,
    skipUnstarted: flag,
    concurrency: whole,
    waiting: about(whole, "Samples that the labeler can be given; with `waitsMore` there are more than were counted."),
    waitsMore: flag,
    inHand: listOf(assignment),
    done: whole,
    skipped: whole,
    medianSeconds: about(orNull(number), "How long a label took him."),
  }),
);

const draft: Schema = shape<DraftAnswer>({ value: anything, at: moment });

/** What a labeler finds at his desk, and what he has entered so far. */
export const ownWorkRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/desk",
    verb: "desk",
    may: "label",
    tag,
    summary: "The queues in which a labeler may work: what waits, what is in hand, what was done today and how fast.",
    takes: {
      labeler,
      since: about(moment, "From when on to count what was done; from midnight, by UTC, unless given."),
    },
    answers: shape<DeskAnswer>({ labeler: text, now: moment, queues: listOf(queue) }),
  },
  {
    method: "get",
    path: "/desk/assignments/{id}",
    verb: "deskWork",
    may: "label",
    tag,
    summary: "An assignment of one's own with its sample, what was entered so far, and what it is to correct.",
    takes: { labeler },
    answers: shape<DeskWorkAnswer>({
      assignment,
      sample: shape<DeskWorkAnswer["sample"]>({ id, key: orNull(text), data: anything }),
      draft: orNull(draft),
      revises: orNull(
        shape<NonNullable<DeskWorkAnswer["revises"]>>({
          value: anything,
          comment: orNull(text),
          reviewedBy: orNull(text),
        }),
      ),
      now: moment,
    }),
  },
  {
    method: "get",
    path: "/assignments/{id}/draft",
    verb: "draft",
    may: "label",
    tag,
    summary: "What its labeler has entered and not handed in; null where that is nothing.",
    takes: { labeler },
    answers: orNull(draft),
  },
  {
    method: "put",
    path: "/assignments/{id}/draft",
    verb: "keepDraft",
    may: "label",
    tag,
    summary: "Keep what was entered so far, while the assignment is in hand. It goes with the label.",
    takes: { draft: about(anything, "Any JSON; the desk keeps its form in it."), labeler },
    needs: ["draft"],
    answers: draft,
  },
];
