import type { Pawl } from "../../api/pawl.ts";
import { PawlError } from "../../base/errors.ts";
import { routesOf } from "../api/route.ts";
import { about, anything, listOf, text } from "../api/schema.ts";
import { repeat } from "../api/usual-arguments.ts";
import { assignment, next, submitted, workMove } from "./responses/people-response.ts";

/** A labeler works under their own name; others who may label name the labeler. */
const labeler = about(text, "The labeler. A labeler's own token sets it.");

const { get, post } = routesOf("Desk");

/** An assignment for its labeler: that of another labeler is reported as unknown. */
async function ownAssignment(people: Pawl["people"], id: string, labeler: string | undefined) {
  const found = await people.assignment(id);
  if (labeler === undefined || found.labelerId === labeler) return found;
  throw new PawlError("assignment_unknown", `Assignment ${id} does not exist.`, { id });
}

export const deskRoutes = [
  post("next", "/queues/{queue}/next", "label", {
    summary: "Assign the next sample to a labeler, or return why there is none.",
    takes: { labeler },
    needs: ["labeler"],
    answer: next,
    call: ({ people }, { queue, labeler }) => people.next(queue, labeler),
  }),
  get("assignment", "/assignments/{id}", ["read", "label"], {
    summary: "Get an assignment. Labelers see only their own.",
    answer: assignment,
    call: ({ people }, { id }, { labeler }) => ownAssignment(people, id, labeler),
  }),
  get("assignmentJournal", "/assignments/{id}/journal", ["read", "label"], {
    summary: "List all moves of an assignment, in order. Labelers see only their own.",
    answer: listOf(workMove),
    call: async ({ people }, { id }, { labeler }) => {
      await ownAssignment(people, id, labeler);
      return people.assignmentJournal(id);
    },
  }),
  post("startAssignment", "/assignments/{id}/start", "label", {
    summary: "Start an assignment and its time limit.",
    takes: { labeler, ...repeat },
    needs: ["labeler"],
    answer: assignment,
    call: ({ people }, { id, labeler, ...options }) => people.start(id, labeler, options),
  }),
  post("submitLabel", "/assignments/{id}/submit", "label", {
    summary: "Submit a label. After the deadline it is kept as late.",
    takes: { label: anything, labeler, ...repeat },
    needs: ["label", "labeler"],
    answer: submitted,
    call: ({ people }, { id, labeler, label, ...options }) => people.submit(id, labeler, label, options),
  }),
  post("skipAssignment", "/assignments/{id}/skip", "label", {
    summary: "Skip an assignment; another labeler gets the sample.",
    takes: { reason: text, labeler, ...repeat },
    needs: ["labeler"],
    answer: assignment,
    call: ({ people }, { id, labeler, ...options }) => people.skip(id, labeler, options),
  }),
  post("extendAssignment", "/assignments/{id}/extend", "label", {
    summary: "Extend an assignment: its time limit starts again.",
    takes: { labeler, ...repeat },
    needs: ["labeler"],
    answer: assignment,
    call: ({ people }, { id, labeler, ...options }) => people.extend(id, labeler, options),
  }),
];
