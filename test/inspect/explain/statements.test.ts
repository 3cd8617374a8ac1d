import { lifecycle, type WaitingFor } from "pawl";
import { httpApp } from "pawl/http";
import { expect, test } from "vitest";
import type { ExplanationResponse } from "../../../src/http/contract.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { Documented } from "../../http/documented.ts";
import { eachStore } from "../../support/each-store.ts";
import { openSecondProcess } from "../../support/second-process.ts";
import {
  claim,
  counted,
  expense,
  explainWorld,
  liveWorker,
  mostStatements,
  odd,
  rare,
  report,
  whole,
} from "./world.ts";

const admin = { name: "ada", role: "admin", labeler: null } as const;

type Named = readonly [lifecycle: string, key: string];

const newer = lifecycle("odd", {
  version: 2,
  initial: "a",
  states: { a: { run: () => {}, on: { x: "b" } }, b: { final: "success" } },
});

/** It has gained a state under the same number, and the definition of this process has not. */
const grown = lifecycle("odd", {
  initial: "a",
  states: {
    a: { run: (step) => step.go("x"), on: { x: "b", hold: "held" } },
    held: { forever: true, on: { x: "b" } },
    b: { final: "success" },
  },
});

const started = async (t: TestPawl, ...events: string[]): Promise<Named> => {
  await t.pawl.start(report, { key: "r", data: {} });
  for (const event of events) await t.pawl.send(report, "r", event as "write");
  return ["report", "r"];
};

const asking = async (t: TestPawl): Promise<Named> => {
  await t.pawl.start(claim, { key: "c", data: { text: "x" } });
  return ["claim", "c"];
};

/** An instance that waits in this way. A kind that is missing here does not compile. */
const waits: { readonly [Kind in WaitingFor["kind"]]: (t: TestPawl) => Promise<Named> } = {
  step: async (t) => {
    await liveWorker(t, ["report@1/writing"]); // Then breakers and limits are read, too.
    return started(t, "write");
  },
  recovery: (t) => started(t, "fail"),
  effect: async (t) => {
    await started(t, "write");
    await (await t.claim("report/writing")).report("written");
    return ["report", "r"];
  },
  events: (t) => started(t),
  timer: async (t) => {
    await t.pawl.start(expense, { key: "e", data: { image: "a" } });
    return ["expense", "e"];
  },
  delayed_event: async (t) => {
    await started(t);
    await t.pawl.send(report, "r", "park", { after: "10m" });
    return ["report", "r"];
  },
  release: async (t) => {
    await t.pawl.start(report, { key: "r", data: { held: true } });
    await t.pawl.send(report, "r", "park");
    await t.maintain();
    return ["report", "r"];
  },
  children: async (t) => {
    await t.pawl.start(whole, { key: "w" });
    await t.work();
    return ["whole", "w"];
  },
  question: asking,
  people: async (t) => {
    const named = await asking(t);
    await t.maintain();
    await t.pawl.people.next(rare, "ada");
    return named;
  },
  crowd_job: async (t) => {
    await t.pawl.start(expense, { key: "e", data: { image: "a" } });
    await t.maintain();
    return ["expense", "e"];
  },
  callback: async (t) => {
    await started(t, "ask_around");
    await t.work();
    return ["report", "r"];
  },
  result: async (t) => {
    await started(t);
    await t.pawl.receive(report, "r", "scored", { score: 1 }, { dedupeKey: "1" });
    return ["report", "r"];
  },
  person: async (t) => {
    await started(t, "fail");
    await t.advance("10m");
    await (await t.claim("report/failed")).run();
    await t.pawl.send(report, "r", "fail");
    return ["report", "r"];
  },
  definition_fault: async (t) => {
    await t.pawl.start(odd, { key: "k" });
    await t.work();
    return ["odd", "k"];
  },
  undeclared_state: async (t) => {
    await using other = await openSecondProcess(t, [grown]);
    await other.pawl.start(grown, { key: "u" });
    await other.pawl.send(grown, "u", "hold");
    return ["odd", "u"];
  },
  newer_definition: async (t) => {
    await using next = await openSecondProcess(t, [newer]);
    await next.pawl.start(newer, { key: "n" });
    return ["odd", "n"];
  },
};

eachStore((store) => {
  test.each(Object.entries(waits))(
    "%s: an explanation takes ten statements at most, and the HTTP API returns it as documented",
    async (kind, make) => {
      await using t = await store.open(explainWorld());
      const [lifecycle, key] = await make(t);
      const api = await Documented.of(httpApp(t.pawl, { authenticate: () => admin }));
      const asked = (path: string) => counted(t, () => api.get<ExplanationResponse>(path));
      const { result, statements } = await asked(`/lifecycles/${lifecycle}/keys/${key}/explain`);
      expect(result.waitingFor.map((wait) => wait.kind)).toContain(kind);
      expect(statements).toBeLessThanOrEqual(mostStatements);
      // An id is first looked up for its lifecycle.
      const byId = await asked(`/instances/${result.id}/explain`);
      expect(byId.statements).toBeLessThanOrEqual(mostStatements + 1);
      expect(byId.result).toMatchObject({ id: result.id, state: result.state });
    },
  );

  test("it takes no more statements, and lists ten at most, however much an instance waits for", async () => {
    await using t = await store.open(explainWorld());
    await t.pawl.start(whole, { key: "few", data: { parts: 1 } });
    await t.pawl.start(whole, { key: "many", data: { parts: 300 } });
    await t.work();
    const few = await counted(t, () => t.pawl.explain(whole, "few"));
    const many = await counted(t, () => t.pawl.explain(whole, "many"));
    expect(many.statements).toBe(few.statements);
    const [children] = many.result.waitingFor;
    expect(children).toMatchObject({ kind: "children", open: 300 });
    expect(children!.kind === "children" && children!.first).toHaveLength(10);
    for (let number = 0; number < 50; number++) await t.pawl.send(whole, "many", "discard", { after: "1h" });
    const full = await counted(t, () => t.pawl.explain(whole, "many"));
    expect(full.result.waitingFor.length).toBeLessThanOrEqual(11);
    expect(full.statements).toBe(few.statements);
  });
});
