import { constant, crowd, job, lifecycle, queue, schedule } from "pawl";
import { memoryBroker, memoryMarketplace } from "pawl/testing";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";

/** An order that cannot be packed until its address is right; it tells others that it was taken. */
export const order = lifecycle("order", {
  data: z.object({ address: z.string() }),
  initial: "taken",
  states: {
    taken: { run: (step) => step.publish("order.taken", { address: step.data.address }), on: { told: "packing" } },
    packing: {
      run: async ({ data }) => {
        if (!data.address.startsWith("Elm")) throw new Error(`no street is called ${data.address}`);
      },
      retry: { maxAttempts: 1, backoff: constant("1s") },
      on: { packed: "sent" },
    },
    sent: { final: "success" },
  },
});

const judge = job("judge", { uses: "model", run: () => {} });
const tidy = job("tidy", { run: () => {} });
const nightly = schedule("nightly", { cron: "30 3 * * *", start: tidy });
const animals = queue("animals", {
  label: z.object({ animal: z.enum(["cat", "dog"]) }),
  overlap: 2,
  review: true,
  maxAttemptsTotal: 3,
});
const receipts = crowd("receipts", {
  label: z.object({ total: z.number() }),
  marketplace: "memory",
  submissions: 3,
  autoApprove: false,
});

/** A Pawl with three orders that cannot be packed, and whose messages nobody takes. */
export async function openOrders(): Promise<TestPawl> {
  const broker = memoryBroker();
  broker.on("order.taken", () => {
    throw new Error("the printer is out of paper");
  });
  const t = await testPawl({
    lifecycles: [order, judge, tidy],
    schedules: [nightly],
    outbox: { brokers: [broker], retry: { maxAttempts: 1, backoff: () => 0 } },
  });
  await t.pawl.startMany(
    order,
    ["Oak 1", "Ash 2", "Fir 3"].map((address, index) => ({ key: `o-${index + 1}`, data: { address } })),
  );
  await t.work();
  await t.relay();
  return t;
}

/** A Pawl whose people have labeled, and whose crowd has submitted, on a marketplace that is only for trying. */
export async function openPeople(): Promise<TestPawl> {
  const market = Object.assign(memoryMarketplace(), { sandbox: true });
  const t = await testPawl({
    lifecycles: [],
    queues: [animals],
    crowds: [receipts],
    marketplaces: { memory: market },
  });
  await label(t);
  const { id } = await t.pawl.crowd.ask(receipts, { key: "r-1", content: { image: "receipt.png" } });
  await t.work();
  const [posting] = market.workers.jobsOf(id);
  for (const worker of ["W1", "W2"]) market.workers.work(posting!.id, worker, { total: 12.5 });
  await t.pawl.crowd.sync(id);
  await t.work();
  return t;
}

/** Ada and Ben label; what Cem does comes late; Dan has one in hand. */
async function label(t: TestPawl): Promise<void> {
  const { people } = t.pawl;
  await people.addMany(
    animals,
    ["tom", "rex", "kit"].map((key) => ({ key, data: { picture: `${key}.png` } })),
  );
  const begin = async (labeler: string) => {
    const { assignment } = await people.next(animals, labeler);
    await people.start(assignment!.id, labeler);
    return assignment!.id;
  };
  await people.submit(await begin("ada"), "ada", { animal: "cat" });
  await people.submit(await begin("ben"), "ben", { animal: "dog" });
  const late = await begin("cem");
  await t.advance("2h");
  await people.submit(late, "cem", { animal: "cat" });
  await begin("dan");
}
