/**
 * The grader as a process of its own: consumes requests from RabbitMQ, and publishes its answer before it acknowledges
 * a request. When it dies, another one gets its open requests.
 */
import { randomUUID } from "node:crypto";
import { consume, rabbitmq } from "pawl/rabbitmq";
import { grading } from "../topology.ts";
import { Grader, GradingRequest, type Trouble } from "./grader.ts";

const [url = "", minuteMs, seed] = process.argv.slice(2);
const broker = rabbitmq({ url, ...grading });
const tell = (told: object) => process.send?.(told);

const grader = new Grader({
  minuteMs: Number(minuteMs),
  seed: Number(seed),
  onDeed: (deed, submissionId) => tell({ deed, submissionId }),
  send: (callback) =>
    broker.publish({
      id: randomUUID(),
      type: "grading.callback",
      aggregate: { type: "submission", id: String(callback.submissionId) },
      body: JSON.stringify(callback),
      createdAt: new Date(),
      version: null,
      attempt: 1,
    }),
});

const consumer = consume({
  url,
  queue: "grading.request",
  topology: grading.topology,
  prefetch: 200,
  handler: async ({ body }) => {
    const request = GradingRequest.safeParse(JSON.parse(body.toString()));
    if (!request.success) return "reject";
    await grader.grade(request.data);
    return "ack";
  },
});

process.on("message", ({ trouble }: { trouble: Trouble }) => {
  grader.trouble = trouble;
});
process.on("disconnect", () => process.exit()); // The parent process is gone.
await consumer.ready;
tell({ ready: true });
