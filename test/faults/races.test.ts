import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { verify } from "../../src/inspect/verify/verify.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";

/** Its hooks take two minutes, and its states wait for one. */
const permit = lifecycle("permit", {
  initial: "asked",
  states: {
    asked: {
      timeout: { after: "1m", send: "expired" },
      on: { granted: { to: "issuing", before: ({ tx }) => tx.query(twoMinutes) }, expired: "over" },
    },
    issuing: {
      run: async (step) => step.go("issued"),
      timeout: { after: "1m", send: "expired" },
      on: { issued: { to: "in_force", before: ({ tx }) => tx.query(twoMinutes) }, expired: "over" },
    },
    in_force: { final: "success" },
    over: { final: "failure" },
  },
});

const twoMinutes = "update pawl.test_clock set now = now + interval '2 minutes'";

eachStoreAndPooler((store) => {
  test("what falls due while a hook runs comes after it: the hook is not blamed for it", async () => {
    await using t = await store.open({ lifecycles: [permit] });
    await t.pawl.start(permit, { key: "p" });
    expect(await t.pawl.send(permit, "p", "granted")).toMatchObject({ state: "issuing", version: 2 });
    expect(await verify(t.db)).toEqual([]);
  });

  test("what falls due while a step's hook runs comes after it: the step's lease is not taken for lost", async () => {
    await using t = await store.open({ lifecycles: [permit] });
    await t.pawl.start(permit, { key: "p" });
    await t.pawl.send(permit, "p", "granted");
    const worker = await t.claim("permit/issuing");
    await worker.report("issued");
    expect(await t.pawl.get(permit, "p")).toMatchObject({ state: "in_force", version: 3 });
    expect(await verify(t.db)).toEqual([]);
  });

  test("what falls due while somebody's own transaction is open comes after it", async () => {
    await using t = await store.open({ lifecycles: [permit] });
    const { id } = await t.pawl.start(permit, { key: "p" });
    await t.pawl.transaction(async (tx) => {
      await t.pawl.send(permit, { id }, "granted", { tx });
      await tx.query(twoMinutes);
    });
    await t.maintain();
    expect((await t.pawl.journal(permit, "p")).map((move) => move.event)).toEqual(["start", "granted", "expired"]);
    expect(await verify(t.db)).toEqual([]);
  });
});
