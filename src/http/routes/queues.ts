import type { Pawl } from "../../api/pawl.ts";
import { routesOf } from "../api/route.ts";
import { about, anyOf, flag, listOf, moment, oneOf, record, text, withMore } from "../api/schema.ts";
import { after, page } from "../api/usual-arguments.ts";
import { exportedLabel, metrics, quality, queueLoad } from "./answers/measures-answer.ts";
import { assignment, labeler, queue } from "./answers/people-answer.ts";

type NewQueue = Parameters<Pawl["people"]["createQueue"]>[1];

const { get, post, put } = routesOf("People");

export const queueRoutes = [
  get("queues", "/queues", "look", {
    summary: "All queues, by name, with their settings.",
    answer: listOf(queue),
    call: ({ people }) => people.queues(),
  }),
  get("queueLoads", "/queue-loads", "look", {
    summary: "How much lies in each queue now, and how its work has gone so far.",
    answer: listOf(queueLoad),
    call: ({ people }) => people.queueStats(),
  }),
  post("createQueue", "/queues", "operate", {
    summary: "Make a queue for all processes; its labels are described by JSON Schema.",
    takes: { queue: text, definition: record },
    needs: ["queue", "definition"],
    answer: queue,
    call: ({ people }, { queue, definition }) => people.createQueue(queue, definition as unknown as NewQueue),
  }),
  get("queue", "/queues/{queue}", "look", {
    summary: "A queue with its settings.",
    answer: queue,
    call: ({ people }, { queue }) => people.queue(queue),
  }),
  post("activateQueue", "/queues/{queue}/activate", "operate", {
    summary: "Let an inactive queue hand out samples again.",
    answer: queue,
    call: ({ people }, { queue }) => people.activateQueue(queue),
  }),
  post("deactivateQueue", "/queues/{queue}/deactivate", "operate", {
    summary: "Hand out nothing new. What is in hand can be finished.",
    answer: queue,
    call: ({ people }, { queue }) => people.deactivateQueue(queue),
  }),
  post("checkExpired", "/queues/{queue}/check-expired", "operate", {
    summary: "Let everything in a queue expire whose time is over.",
    answer: listOf(assignment),
    call: ({ people }, { queue }) => people.checkExpired(queue),
  }),
  get("quality", "/queues/{queue}/quality", "look", {
    summary: "How far the labels of a queue agree, by field and by labeler, and who is right on gold.",
    answer: quality,
    call: ({ people }, { queue }) => people.quality(queue),
  }),
  get("queueMetrics", "/queues/{queue}/metrics", "look", {
    summary: "How the work in a queue goes: over all of it, for each labeler, or for each hour.",
    takes: { labeler: text, from: moment, to: moment, by: oneOf("labeler", "hour") },
    answer: anyOf(metrics, listOf(withMore(metrics, { labeler: text })), listOf(withMore(metrics, { hour: moment }))),
    call: ({ people }, { queue, by, ...span }) => {
      if (by === "labeler") return people.metricsByLabeler(queue, span);
      return by === "hour" ? people.metricsByHour(queue, span) : people.metrics(queue, span);
    },
  }),
  get("exportLabels", "/queues/{queue}/export", "look", {
    summary: "The labels of a queue that count, with their samples: sample by sample, the oldest first, by pages.",
    takes: {
      late: about(flag, "Also labels that came late."),
      skipped: about(flag, "Also skips, as rows without a label."),
      ...page,
    },
    answer: listOf(exportedLabel),
    call: async ({ people }, { queue, limit = 100, after: last, ...wanted }) => {
      const rows: unknown[] = [];
      for await (const row of people.exportLabels(queue, { ...wanted, after: after(last) })) {
        rows.push(row);
        if (rows.length === limit) break;
      }
      return rows;
    },
  }),
  get("labelers", "/labelers", "look", {
    summary: "Everybody who was added as a labeler.",
    answer: listOf(labeler),
    call: ({ people }) => people.labelers(),
  }),
  put("putLabeler", "/labelers/{id}", "operate", {
    summary: "Add a labeler, or change what is known of one: what is left out stays as it was.",
    takes: { name: text, skills: listOf(text), active: flag },
    answer: labeler,
    call: ({ people }, labeler) => people.upsertLabeler(labeler),
  }),
];
