import type { QueueDeclaration, Topology } from "pawl/rabbitmq";

/** Requests to the grader and its callbacks, with one dead-letter queue for both: `rabbitmq({ url, ...grading })`. */
export const grading = {
  exchange: "vstep.exchange",
  topology: {
    exchanges: { "vstep.exchange": { type: "direct" }, "vstep.dlx": { type: "direct" } },
    queues: {
      "grading.request": queue("grading.request"),
      "grading.callback": queue("grading.callback"),
      "grading.dlq": { bindings: [{ exchange: "vstep.dlx", key: "grading.dlq" }] },
    },
  },
} as const satisfies { exchange: string; topology: Topology };

function queue(name: string): QueueDeclaration {
  return {
    bindings: [{ exchange: "vstep.exchange", key: name }],
    deadLetter: { exchange: "vstep.dlx", key: "grading.dlq" },
  };
}
