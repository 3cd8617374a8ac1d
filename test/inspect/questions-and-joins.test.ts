import { lifecycle, queue } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { eachStore } from "../support/each-store.ts";
import { explain, part, waitOf } from "./explain/world.ts";

const opinions = queue("opinions", { label: z.object({ good: z.boolean() }) });

/** Asks people, and then waits for children. A question is a child, too, but no part of the join. */
function survey(failed: "fail" | "count" | "wait") {
  return lifecycle("survey", {
    initial: "asking",
    states: {
      asking: {
        ask: { queue: opinions, sample: () => ({}) },
        timeout: { after: "1h", send: "expire" },
        on: { answered: "splitting", unanswered: "splitting", expire: "splitting" },
      },
      splitting: {
        run: (step) => {
          for (const key of ["p1", "p2"]) step.start(part, { key });
        },
        on: { split: "joining" },
      },
      joining: {
        join: { failed },
        on: { joined: { to: "done", guard: ({ payload }) => payload.discarded === 0 || "a part was discarded" } },
      },
      done: { final: "success" },
    },
  });
}

eachStore((store) => {
  test.each(["fail", "count", "wait"] as const)(
    "a question that timed out is no child of the join after it (%s)",
    async (failed) => {
      const asking = survey(failed);
      await using t = await store.open({ lifecycles: [asking, part], queues: [opinions] });
      await t.pawl.start(asking, { key: "s" });
      await t.maintain();
      await t.advance("1h");
      await t.work();
      expect(await t.pawl.get(asking, "s")).toMatchObject({ state: "joining" });
      const joining = await explain(t, asking, "s");
      const children = waitOf(joining, "children");
      expect(children).toMatchObject({ open: 2, failed: 0, by: "worker" });
      expect(children.first.map((child) => child.lifecycle)).toEqual(["part", "part"]);
      expect(joining.stuck).toBeNull();
      expect(await t.pawl.inspect.verify()).toEqual([]);

      // A join that keeps refusing has a dead letter of its own, or is listed as refused, whatever became of the question.
      await t.pawl.send(part, { id: children.first[0]!.id }, "close");
      await t.pawl.send(part, { id: children.first[1]!.id }, "discard");
      await t.work();
      const refused = await explain(t, asking, "s");
      expect(waitOf(refused, "children")).toMatchObject({ open: 0, failed: 0, by: "person" });
      expect(waitOf(refused, "children").sentence).toContain("it refused `joined`");
      expect(refused.stuck).toMatchObject({ reason: "event_refused" });
      expect(await t.pawl.inspect.stuck()).toMatchObject([{ reason: "event_refused", count: 1 }]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    },
  );

  test("a join whose `joined` failed for good waits for a person, and is stuck by its dead letter", async () => {
    const broken = lifecycle("broken", {
      initial: "splitting",
      states: {
        splitting: { run: (step) => step.start(part, { key: "p" }), on: { split: "joining" } },
        joining: {
          join: { failed: "count" },
          on: {
            joined: {
              to: "done",
              set: () => {
                throw new Error("jammed");
              },
            },
          },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [broken, part] });
    await t.pawl.start(broken, { key: "b" });
    await t.work();
    const { first } = await t.pawl.children(broken, "b");
    await t.pawl.send(part, { id: first[0]!.id }, "close");
    for (let round = 0; round < 8; round++) await t.advance("10m");
    const isStuck = async () => {
      const explained = await explain(t, broken, "b");
      expect(waitOf(explained, "children")).toMatchObject({ open: 0, failed: 0, by: "person" });
      expect(explained).toMatchObject({ next: null, stuck: { reason: "dead_letter" } });
      expect(await t.pawl.inspect.stuck()).toMatchObject([{ reason: "dead_letter", state: "joining", count: 1 }]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    };
    await isStuck();
    // Once more, and it fails as before.
    for (const { id } of await t.pawl.deadLetters.list()) await t.pawl.deadLetters.requeue(id);
    for (let round = 0; round < 8; round++) {
      await t.work();
      await t.advance("10m");
    }
    await isStuck();
  });

  test("an open question hides no join that was forgotten", async () => {
    const asking = survey("count");
    await using t = await store.open({ lifecycles: [asking, part], queues: [opinions] });
    const { id } = await t.pawl.start(asking, { key: "s" });
    await t.maintain();
    await t.advance("1h");
    await t.work();
    for (const { id: child } of (await t.pawl.children(asking, "s")).first.filter((one) => one.lifecycle === "part"))
      await t.pawl.send(part, { id: child }, "close");
    // The process stops before it withdraws the question, and its check is lost.
    await t.db.script(`set session_replication_role = replica;
      delete from pawl.checks;
      update pawl.instances set child_outcome = null where child_name like '?%';
      set session_replication_role = origin;`);
    const found = (await t.pawl.inspect.verify()).filter((one) => one.instance === id);
    expect(found.map((one) => one.message)).toEqual([
      'Its children have ended, it is in "joining", and it has no open check.',
    ]);
  });
});
