import { job, lifecycle, type Pawl, queue } from "pawl";
import { z } from "zod";

export const part = job("part", { payload: z.object({ n: z.number() }), run: () => {} });
export const opinions = queue("opinions", { label: z.object({ good: z.boolean() }), overlap: 1 });

/** Its number decides which rows come with its moves: messages, children, timers, effects, failures, in many combinations. */
export const order = lifecycle("order", {
  data: z.object({ n: z.number(), checked: z.boolean().default(false) }),
  initial: "checking",
  deadline: { within: "1h", late: "accept" },
  on: { noted: {}, redo: "checking" },
  states: {
    checking: {
      run: (step) => {
        const { n } = step.data;
        if (n % 7 === 0 && step.attempt === 1) throw new Error("not yet");
        if (n % 11 === 0) throw new Error("never");
        if (n % 2 === 0) step.publish("order.checked", { n });
        if (n % 3 === 0) step.set({ checked: true });
        if (n % 5 === 0) step.start(part, { data: { n } });
        return step.go(n % 13 === 0 ? "skipped" : "checked");
      },
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { checked: "waiting", skipped: { to: "done", after: () => {} } },
    },
    waiting: {
      timeout: { after: "30m", send: "expired" },
      on: { paid: { to: "joining", after: () => {} }, expired: "done" },
    },
    joining: { join: {}, on: { joined: "done" } },
    done: { final: "success" },
  },
});

/** The numbers from `from` on, in lists of one to five: those of a list are used at the same time. */
function listsFrom(from: number, many: number): number[][] {
  const lists: number[][] = [];
  for (let n = from; n < from + many; ) {
    const length = 1 + (n % 5);
    lists.push(Array.from({ length }, (_, index) => n + index));
    n += length;
  }
  return lists;
}

/** Starts orders and jobs, sends and receives events, and labels samples, in batches of up to five. */
export async function mixedLoad(pawl: Pawl, from: number, many = 80): Promise<void> {
  const key = (n: number) => `order-${n}`;
  for (const numbers of listsFrom(from, many)) {
    await Promise.all(
      numbers.map((n) =>
        n % 4 === 0
          ? pawl.enqueue(part, { n }, n % 8 === 0 ? { after: "1m" } : {})
          : pawl.start(order, { key: key(n), data: { n }, ...(n % 3 === 0 && { actor: "ada" }) }),
      ),
    );
    await Promise.all(
      numbers.flatMap((n) =>
        n % 4 === 0
          ? []
          : [
              pawl.trySend(order, key(n), "noted", n % 3 === 0 ? { after: "10m" } : {}),
              pawl.tryReceive(order, key(n), "paid", { dedupeKey: `paid-${n}` }),
              pawl.trySend(order, key(n), n % 6 === 1 ? "redo" : "noted", { idempotencyKey: `send-${n}` }),
            ],
      ),
    );
    const samples = await pawl.people.addMany(
      "opinions",
      numbers.map((n) => ({ data: { n } })),
    );
    for (const labeler of ["ada", "bob"].slice(0, samples.length)) {
      const next = await pawl.people.next("opinions", labeler);
      if (next.assignment === null) continue;
      await pawl.people.start(next.assignment.id, labeler);
      await pawl.people.submit(next.assignment.id, labeler, { good: true });
    }
  }
}
