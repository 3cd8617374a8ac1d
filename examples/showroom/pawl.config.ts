import { defineConfig, schedule } from "pawl";
import { service } from "./classifier.ts";
import { moderation, posting } from "./posting.ts";
import { textOf } from "./texts.ts";

/** A new posting every five seconds. */
const chatter = schedule("chatter", {
  interval: "5s",
  start: posting,
  missed: "skip",
  data: ({ at }) => textOf(Math.floor(Date.parse(at) / 5_000)),
});

export default defineConfig({
  lifecycles: [posting, service],
  queues: [moderation],
  schedules: [chatter],
  breakers: { classifier: { window: "10s", minimum: 5, openFor: "10s", probes: 2 } },

  /** Forty postings in progress as example data. */
  seed: async (pawl) => {
    await pawl.start(service, { key: "classifier" });
    const starts = Array.from({ length: 40 }, (_, number) => ({ key: `posting-${number + 1}`, data: textOf(number) }));
    await pawl.startMany(posting, starts);
  },
});
