import type { Pawl } from "../../api/pawl.ts";
import { routesOf } from "../api/route.ts";
import { about, anyOf, flag, listOf, moment, oneOf, record, text, withMore } from "../api/schema.ts";
import { after, page } from "../api/usual-arguments.ts";
import { exportedLabel, metrics, quality, queueStats } from "./responses/measures-response.ts";
import { assignment, labeler, queue } from "./responses/people-response.ts";

type NewQueue = Parameters<Pawl["people"]["createQueue"]>[1];

const { get, post, put } = routesOf("People");

export const queueRoutes = [
  get("queues", "/queues", "read", {
    summary: "List queues with their settings, by name.",
    answer: listOf(queue),
    call: ({ people }) => people.queues(),
  }),
  get("queueStats", "/queue-stats", "read", {
    summary: "List the backlog and the metrics of each queue.",
    answer: listOf(queueStats),
    call: ({ people }) => people.queueStats(),
  }),
  post("createQueue", "/queues", "operate", {
    summary: "Create a queue for all processes; a JSON Schema describes its labels.",
    takes: { queue: text, definition: record },
    needs: ["queue", "definition"],
    answer: queue,
    call: ({ people }, { queue, definition }) => people.createQueue(queue, definition as unknown as NewQueue),
  }),
  get("queue", "/queues/{queue}", "read", {
    summary: "Get a queue with its settings.",
    answer: queue,
    call: ({ people }, { queue }) => people.queue(queue),
  }),
  post("activateQueue", "/queues/{queue}/activate", "operate", {
    summary: "Activate a queue.",
    answer: queue,
    call: ({ people }, { queue }) => people.activateQueue(queue),
  }),
  post("deactivateQueue", "/queues/{queue}/deactivate", "operate", {
    summary: "Deactivate a queue: no new assignments; existing ones can be finished.",
    answer: queue,
    call: ({ people }, { queue }) => people.deactivateQueue(queue),
  }),
  post("checkExpired", "/queues/{queue}/check-expired", "operate", {
    summary: "Expire overdue assignments of a queue.",
    answer: listOf(assignment),
    call: ({ people }, { queue }) => people.checkExpired(queue),
  }),
  get("quality", "/queues/{queue}/quality", "read", {
    summary: "Get the agreement of a queue's labels, by field and labeler, and the accuracy on gold samples.",
    answer: quality,
    call: ({ people }, { queue }) => people.quality(queue),
  }),
  get("queueMetrics", "/queues/{queue}/metrics", "read", {
    summary: "Get the metrics of a queue: in total, by labeler, or by hour.",
    takes: { labeler: text, from: moment, to: moment, by: oneOf("labeler", "hour") },
    answer: anyOf(metrics, listOf(withMore(metrics, { labeler: text })), listOf(withMore(metrics, { hour: moment }))),
    call: ({ people }, { queue, by, ...span }) => {
      if (by === "labeler") return people.metricsByLabeler(queue, span);
      return by === "hour" ? people.metricsByHour(queue, span) : people.metrics(queue, span);
    },
  }),
  get("exportLabels", "/queues/{queue}/export", "read", {
    summary: "List the accepted labels of a queue with their samples, oldest sample first, by page.",
    takes: {
      late: about(flag, "Include late labels."),
      skipped: about(flag, "Include skips, as rows without a label."),
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
  get("labelers", "/labelers", "read", {
    summary: "List labelers.",
    answer: listOf(labeler),
    call: ({ people }) => people.labelers(),
  }),
  put("upsertLabeler", "/labelers/{id}", "operate", {
    summary: "Add or update a labeler. Omitted fields keep their values.",
    takes: { name: text, skills: listOf(text), active: flag },
    answer: labeler,
    call: ({ people }, labeler) => people.upsertLabeler(labeler),
  }),
];
