import type { Pawl } from "../../pawl.ts";
import type { Route } from "../api/route.ts";
import { about, anything, flag, id, listOf, number, orNull, shape, text, whole } from "../api/schema.ts";
import type { AddedSampleAnswer, RejectedAnswer } from "../contract.ts";
import { cause, page } from "./arguments.ts";
import { assignment, assignmentStatus, label, sample, sampleHistory, sampleState } from "./people-answer.ts";

type NewSample = Parameters<Pawl["people"]["add"]>[1];

const tag = "People";

const added = shape<AddedSampleAnswer>({
  id,
  key: orNull(text),
  created: about(flag, "False when its key was there already."),
});
const given = shape<NewSample>(
  {
    data: about(anything, "What a labeler is shown."),
    key: about(text, "A name of your own, unique within the queue."),
    priority: about(number, "Its place in a queue ordered by `priority`: the lower, the sooner."),
    overlap: about(whole, "How many labelers label it; the queue's own unless given."),
    gold: about(anything, "The label that is known to be right."),
  },
  ["key", "priority", "overlap", "gold"],
);

export const sampleRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/queues/{queue}/samples",
    verb: "addSamples",
    may: "send",
    tag,
    summary: "Add samples to a queue. A key that is there already gives back that sample.",
    takes: { samples: listOf(given), ...cause },
    needs: ["samples"],
    answers: listOf(added),
  },
  {
    method: "get",
    path: "/queues/{queue}/samples",
    verb: "samples",
    may: "look",
    tag,
    summary: "The samples of a queue, newest first, by pages.",
    takes: { state: sampleState, ...page },
    answers: listOf(sample),
  },
  {
    method: "get",
    path: "/queues/{queue}/keys/{key}",
    verb: "sample",
    may: "look",
    tag,
    summary: "A sample by its key, with every assignment and label.",
    answers: sampleHistory,
  },
  {
    method: "get",
    path: "/samples/{id}",
    verb: "sample",
    may: "look",
    tag,
    summary: "A sample, with every assignment and label.",
    answers: sampleHistory,
  },
  {
    method: "post",
    path: "/samples/{id}/reopen",
    verb: "reopenSample",
    may: "operate",
    tag,
    summary: "Hand out again a sample that was given up.",
    takes: { attempts: whole, ...cause },
    answers: sampleHistory,
  },
  {
    method: "post",
    path: "/samples/{id}/assign",
    verb: "assignSample",
    may: "operate",
    tag,
    summary: "Give a sample to a named labeler, who finds it on the desk.",
    takes: { to: about(text, "The labeler."), ...cause },
    needs: ["to"],
    answers: assignment,
  },
  {
    method: "post",
    path: "/samples/{id}/close",
    verb: "closeSample",
    may: "operate",
    tag,
    summary: "Take a sample out of its queue for good.",
    takes: cause,
    answers: sampleHistory,
  },
  {
    method: "get",
    path: "/assignments",
    verb: "assignments",
    may: "look",
    tag,
    summary: "The assignments of a queue, newest first, by pages.",
    takes: { queue: text, labeler: text, status: assignmentStatus, ...page },
    needs: ["queue"],
    answers: listOf(assignment),
  },
  {
    method: "post",
    path: "/assignments/{id}/release",
    verb: "releaseAssignment",
    may: "operate",
    tag,
    summary: "Take an assignment back; it costs neither its labeler nor its sample a try.",
    takes: cause,
    answers: assignment,
  },
  {
    method: "get",
    path: "/labels",
    verb: "labels",
    may: "look",
    tag,
    summary: "The labels of a queue, newest first, by pages; with `late` those that came late and wait for a word.",
    takes: { queue: text, late: flag, ...page },
    needs: ["queue"],
    answers: listOf(label),
  },
  {
    method: "post",
    path: "/labels/{id}/accept",
    verb: "acceptLabel",
    may: "operate",
    tag,
    summary: "Accept a label; one that came late counts from then on.",
    takes: { comment: text },
    answers: label,
  },
  {
    method: "post",
    path: "/labels/{id}/reject",
    verb: "rejectLabel",
    may: "operate",
    tag,
    summary: "Reject a label: it counts no more, and its labeler gets the sample once more.",
    takes: { comment: text },
    answers: shape<RejectedAnswer>({ label, revision: orNull(assignment) }),
  },
];
