import { createPawl, job, lifecycle, type Pawl } from "../../../src/index.ts";
import { type Adapter, inSlices, type Kind, serve } from "../harness.ts";
import { moment } from "./moment.ts";

let ran: (at?: number) => void = () => {};

const chain = lifecycle("chain", {
  initial: "one",
  states: {
    one: { run: () => ran(), on: { next: "two" } },
    two: { run: () => ran(), on: { next: "three" } },
    three: { run: () => ran(), on: { next: "four" } },
    four: { run: () => ran(), on: { next: "five" } },
    five: { run: () => ran(), on: { next: "done" } },
    done: { final: "success" },
  },
});
const single = job("single", { payload: moment, run: (step) => ran(step.payload.at) });

let pawl: Pawl;
let kind: Kind;

const adapter: Adapter = {
  async open(url, wanted) {
    kind = wanted;
    pawl = await createPawl({ database: url, lifecycles: [wanted === "chain" ? chain : single] });
  },
  fill: (count) =>
    inSlices(count, 10_000, (numbers) =>
      kind === "chain"
        ? pawl.startMany(
            chain,
            numbers.map(() => ({})),
          )
        : pawl.enqueueMany(
            single,
            numbers.map(() => ({ payload: { at: 0 } })),
          ),
    ),
  send: (at) => pawl.enqueue(single, { at }),
  async work(heard) {
    ran = heard;
    pawl.work({ concurrency: kind === "latency" ? 16 : 500 });
  },
  async left() {
    const counts = Object.entries(await pawl.inspect.counts(kind === "chain" ? chain : single));
    return counts.reduce((sum, [state, count]) => sum + (state === "done" ? 0 : (count ?? 0)), 0);
  },
  close: () => pawl.close(),
};

await serve(adapter);
