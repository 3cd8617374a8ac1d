import { routesOf } from "../api/route.ts";
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
  shape,
  text,
  whole,
} from "../api/schema.ts";
import type { DeskAnswer, DeskQueueAnswer, DeskWorkAnswer, DraftAnswer } from "../contract.ts";
import { assignment } from "./answers/people-answer.ts";

const labeler = about(text, "For whom; a labeler is always himself.");

const queue = named(
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

const draft = shape<DraftAnswer>({ value: anything, at: moment });

/** What a labeler finds at his desk, and what he has entered so far. */
const { get, put } = routesOf("Desk");

export const ownWorkRoutes = [
  get("desk", "/desk", "label", {
    summary: "The queues in which a labeler may work: what waits, what is in hand, what was done today and how fast.",
    takes: {
      labeler,
      since: about(moment, "From when on to count what was done; from midnight, by UTC, unless given."),
    },
    needs: ["labeler"],
    answer: shape<DeskAnswer>({ labeler: text, now: moment, queues: listOf(queue) }),
    call: ({ people }, { labeler, since }) => people.desk(labeler, { since }),
  }),
  get("deskWork", "/desk/assignments/{id}", "label", {
    summary: "An assignment of one's own with its sample, what was entered so far, and what it is to correct.",
    takes: { labeler },
    needs: ["labeler"],
    answer: shape<DeskWorkAnswer>({
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
    call: ({ people }, { id, labeler }) => people.deskWork(id, labeler),
  }),
  get("draft", "/assignments/{id}/draft", "label", {
    summary: "What its labeler has entered and not handed in; null where that is nothing.",
    takes: { labeler },
    needs: ["labeler"],
    answer: orNull(draft),
    call: ({ people }, { id, labeler }) => people.draft(id, labeler),
  }),
  put("keepDraft", "/assignments/{id}/draft", "label", {
    summary: "Keep what was entered so far, while the assignment is in hand. It goes with the label.",
    takes: { draft: about(anything, "Any JSON; the desk keeps its form in it."), labeler },
    needs: ["draft", "labeler"],
    answer: draft,
    call: ({ people }, { id, labeler, draft }) => people.saveDraft(id, labeler, draft),
  }),
];
