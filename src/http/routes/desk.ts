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
import type { DeskQueueResponse, DeskResponse, DeskWorkResponse, DraftResponse } from "../contract.ts";
import { assignment } from "./responses/people-response.ts";

const labeler = about(text, "The labeler. A labeler's own token sets it.");

const queue = named(
  "DeskQueue",
  shape<DeskQueueResponse>({
    name: text,
    active: flag,
    instructions: orNull(text),
    labelSchema: about(record, "The JSON Schema of a label."),
    finishWithinMs: whole,
    graceMs: whole,
    skipRequiresReason: flag,
    skipUnstarted: flag,
    concurrency: whole,
    waiting: about(
      whole,
      "Samples that can be assigned to the labeler; with `waitsMore` there are more than were counted.",
    ),
    waitsMore: flag,
    assignments: listOf(assignment),
    done: whole,
    skipped: whole,
    medianSeconds: about(orNull(number), "The average time that the labeler needed for a label."),
  }),
);

const draft = shape<DraftResponse>({ value: anything, at: moment });

/** A labeler's desk, with drafts. */
const { get, put } = routesOf("Desk");

export const ownWorkRoutes = [
  get("desk", "/desk", "label", {
    summary: "List the queues of a labeler with waiting samples, current assignments, and today's work.",
    takes: {
      labeler,
      since: about(moment, "Count the work since this time. Defaults to midnight, UTC."),
    },
    needs: ["labeler"],
    answer: shape<DeskResponse>({ labeler: text, now: moment, queues: listOf(queue) }),
    call: ({ people }, { labeler, since }) => people.desk(labeler, { since }),
  }),
  get("deskWork", "/desk/assignments/{id}", "label", {
    summary: "Get one of the labeler's assignments with its sample, draft, and the label to correct.",
    takes: { labeler },
    needs: ["labeler"],
    answer: shape<DeskWorkResponse>({
      assignment,
      sample: shape<DeskWorkResponse["sample"]>({ id, key: orNull(text), data: anything }),
      draft: orNull(draft),
      revises: orNull(
        shape<NonNullable<DeskWorkResponse["revises"]>>({
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
    summary: "The labeler's unsubmitted draft; null if there is none.",
    takes: { labeler },
    needs: ["labeler"],
    answer: orNull(draft),
    call: ({ people }, { id, labeler }) => people.draft(id, labeler),
  }),
  put("saveDraft", "/assignments/{id}/draft", "label", {
    summary: "Save the draft of an assignment. Submitting the label deletes it.",
    takes: { draft: about(anything, "Any JSON; the desk stores its form values in it."), labeler },
    needs: ["draft", "labeler"],
    answer: draft,
    call: ({ people }, { id, labeler, draft }) => people.saveDraft(id, labeler, draft),
  }),
];
