import { Queue, Worker } from "bullmq";
import { chainLength, inSlices, serve } from "../harness.ts";

const name = "bench";

/** BullMQ on the store that `connect` makes options of from a URL. */
export function serveBullMQ(connect) {
  let options;
  let queue;
  let worker;
  let kind;
  return serve({
    async open(url, wanted) {
      kind = wanted;
      options = await connect(url);
      // As its page on production advises; history would only cost it memory.
      queue = new Queue(name, { ...options, defaultJobOptions: { removeOnComplete: true } });
      await queue.waitUntilReady();
    },
    fill: (count) =>
      inSlices(count, 2_000, (numbers) => queue.addBulk(numbers.map(() => ({ name: "step", data: { step: 1 } })))),
    send: (at) => queue.add("one", { at }),
    async work(ran) {
      const handler = async ({ data }) => {
        ran(data.at);
        if (kind === "chain" && data.step < chainLength) await queue.add("step", { step: data.step + 1 });
      };
      worker = new Worker(name, handler, { ...options, concurrency: kind === "latency" ? 16 : 200 });
      worker.on("error", (error) => process.stderr.write(`bullmq: ${error.message}\n`));
      await worker.waitUntilReady();
    },
    async left() {
      const counts = await queue.getJobCounts("waiting", "active", "prioritized", "delayed", "failed");
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    async close() {
      await worker?.close();
      await queue.close();
    },
  });
}
