import { job } from "pawl";
import { expect } from "vitest";
import { z } from "zod";
import { testPawl } from "../../src/testing/test-pawl.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { type Broken, breaking, type Way } from "./ways.ts";

// The functions that name the key of a task: it is enqueued and runs whatever they do, and so do those of others.

let key: Broken = () => "fine";

const payload = z.object({ n: z.number() });
const limited = job("limited", {
  payload,
  run: () => {},
  limit: { per: ({ data }) => (data.n === 0 ? (key() as string) : "other"), each: 1 },
});
const shared = job("shared", {
  payload,
  run: () => {},
  share: ({ data }) => (data.n === 0 ? (key() as string) : "other"),
});

const goesOn = (work: typeof limited | typeof shared) => async (_how: Way, broken: Broken) => {
  key = broken;
  const log = new CapturedLog();
  await using t = await testPawl({ lifecycles: [work], logger: log });
  const [odd, other] = await t.pawl.enqueueMany(work, [{ payload: { n: 0 } }, { payload: { n: 1 } }]);
  const warned = log.lines.filter(({ fields }) => fields.instance === odd!.id);
  expect(warned, "it is reported for its instance").not.toEqual([]);
  await t.work();
  for (const { id } of [odd!, other!]) expect(await t.pawl.jobs.get(work, { id })).toMatchObject({ status: "done" });
  expect(await t.pawl.inspect.verify()).toEqual([]);
};

breaking("LaneKeyOf", goesOn(limited));
breaking("Share", goesOn(shared));
