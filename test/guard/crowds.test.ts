import { crowd, job, type Marketplace, RejectSubmission, type SubmissionWork } from "pawl";
import { memoryMarketplace } from "pawl/testing";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { readDeclared } from "../../src/api/open/create.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { type Broken, breaking, fails, impatiently, type Way } from "./ways.ts";

// Hooks of crowds, and the functions of a marketplace: those of one crowd job are broken, and another job goes on.

const label = z.object({ total: z.number() });
/** What is broken for jobs that are asked with a key of `bad …`. */
let breaks: { readonly name: string; readonly broken: Broken } | undefined;
const memory = memoryMarketplace({ now: () => t.now().getTime() });
/** The ids at the marketplace of everything that belongs to a job which is to go wrong. */
const bad = new Set<string>();

const hook = (name: string) => (work: { readonly content: unknown }) => {
  if (breaks?.name === name && isBad(work.content)) return breaks.broken();
  if (name === "onSubmitted" && (work as SubmissionWork<{ total: number }>).label.total < 0) {
    throw new RejectSubmission("A total is more than nothing.");
  }
  return undefined;
};
const isBad = (content: unknown) => (content as { image: string }).image.startsWith("bad");

/** The marketplace in memory, whose functions can be broken for what belongs to one job. */
const market = new Proxy(memory, {
  get(target, name) {
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value !== "function") return value;
    return (...given: unknown[]): unknown => {
      const [about] = given as [unknown];
      const isMeant = typeof about === "string" || about === undefined ? bad.has(about ?? "all") : isMeantBy(about);
      if (breaks?.name === name && isMeant) return breaks.broken() as unknown;
      return (value as Broken).apply(target, given) as unknown;
    };
  },
}) as Marketplace;
const isMeantBy = (about: unknown) => {
  const { content, submission } = about as { content?: unknown; submission?: string };
  return content === undefined ? bad.has(submission ?? "all") : isBad(content);
};

const receipts = crowd("receipts", {
  label,
  marketplace: "memory",
  disposeAfter: "1m",
  onSubmitted: hook("onSubmitted"),
  onApproved: hook("onApproved"),
  onRejected: hook("onRejected"),
  onJobFinished: hook("onJobFinished"),
});
const idle = job("idle", { run: () => {} });

let t: TestPawl;
let count = 0;
beforeAll(async () => {
  t = await testPawl({
    lifecycles: [idle],
    crowds: [receipts],
    marketplaces: { memory: market },
    breakers: { "marketplace-memory": { minimum: 1_000 } },
  });
});
afterAll(() => t?.close());

interface Asked {
  readonly id: string;
  readonly state: () => Promise<string>;
  /** A worker hands in a total; gives back the submission's id at the marketplace. */
  readonly submit: (total: number) => string;
}

async function ask(key: string): Promise<Asked> {
  const { id } = await t.pawl.crowd.ask(receipts, { key, content: { image: key } });
  return {
    id,
    state: async () => (await t.pawl.crowd.job(id))!.state,
    submit(total) {
      const posting = memory.workers.jobsOf(id).find((one) => one.open)!;
      const submission = memory.workers.work(posting.id, `W${++count}`, { total });
      if (key.startsWith("bad")) for (const one of [posting.id, submission]) bad.add(one);
      return submission;
    },
  };
}

/** Two jobs, published, that go the same way: the function is broken for one of them. */
async function both(name: string, broken: Broken, way: (one: Asked) => unknown): Promise<{ good: Asked; bad: Asked }> {
  const keys = [`bad ${++count}`, `good ${count}`];
  breaks = { name, broken };
  const [wrong, right] = (await Promise.all(keys.map(ask))) as [Asked, Asked];
  await impatiently(() => t.work());
  for (const one of [wrong, right]) {
    if ((await one.state()) !== "publishing") {
      for (const posting of memory.workers.jobsOf(one.id)) if (one === wrong) bad.add(posting.id);
      await way(one);
    }
  }
  await impatiently(() => t.work());
  return { bad: wrong, good: right };
}

/** The failed attempts, with their reasons, at a part of what a crowd does. */
async function failures(part: "crowd" | "submission" | "disposal" | "bonus", id: string): Promise<string[]> {
  const of = t.pawl.internalLifecycles.find((one) => one.name === `pawl_${part}_receipts`)!;
  const history = await t.pawl.history(of, { id });
  return history.flatMap((one) => (one.kind === "attempt" && one.what === "failed" ? [JSON.stringify(one)] : []));
}

const submissionOf = async (one: Asked) => (await t.pawl.crowd.submissions({ job: one.id }))[0]!;
const submitted = (total: number) => async (one: Asked) => {
  one.submit(total);
  await t.pawl.crowd.sync(one.id);
};

describe("hooks of a crowd", () => {
  /** Nothing limits how long a hook takes but its worker; it is stuck there, and nobody waits for it. */
  const isLate = (how: Way) => how === "never settles";

  async function hooked(name: string, how: Way, broken: Broken, total = 1): Promise<void> {
    let release = () => {};
    const over = new Promise<void>((resolve) => {
      release = resolve;
    });
    const act = () => (isLate(how) ? Promise.race([broken(), over]) : (broken() as unknown));
    const keys = [`bad ${++count}`, `good ${count}`];
    breaks = { name, broken: act };
    const [wrong, right] = (await Promise.all(keys.map(ask))) as [Asked, Asked];
    await t.work();
    for (const one of [wrong, right]) await submitted(total)(one);
    const working = t.work();
    if (isLate(how)) {
      await expect.poll(() => t.pawl.crowd.submissions({ job: right.id })).toHaveLength(1);
      release();
    }
    await working;
    const [submission] = [await submissionOf(wrong)];
    if (fails(how) && name === "onSubmitted") expect(submission.state).toBe("errored");
    else if (fails(how)) {
      const part = name === "onJobFinished" ? "crowd" : "submission";
      expect(await failures(part, part === "crowd" ? wrong.id : submission.id)).not.toEqual([]);
    } else expect(submission.state).toBe(total < 0 ? "rejected" : "approved");
    expect((await submissionOf(right)).state).toBe(total < 0 ? "rejected" : "approved");
    if (total > 0) expect(await right.state()).toBe("finished");
  }
  breaking("CrowdDefinition.onSubmitted", (how, broken) => hooked("onSubmitted", how, broken));
  breaking("CrowdDefinition.onApproved", (how, broken) => hooked("onApproved", how, broken));
  breaking("CrowdDefinition.onRejected", (how, broken) => hooked("onRejected", how, broken, -1));
  breaking("CrowdDefinition.onJobFinished", (how, broken) => hooked("onJobFinished", how, broken));
});

describe("a marketplace", () => {
  /** What is asked for by `close`, `dispose` and `bonus` has no value that could be wrong. */
  const isHarmless = (how: Way) => how.startsWith("returns");

  async function stuck(name: string, broken: Broken, state: string, way: (one: Asked) => unknown = () => {}) {
    const { bad: wrong, good } = await both(name, broken, way);
    expect(await wrong.state()).toBe(state);
    expect(await failures("crowd", wrong.id)).not.toEqual([]);
    return good;
  }

  breaking("Marketplace.publish", async (_, broken) => {
    const good = await stuck("publish", broken, "publishing");
    expect(await good.state()).toBe("running");
  });
  breaking("Marketplace.job", async (_, broken) => {
    expect(await (await stuck("job", broken, "syncing", submitted(1))).state()).toBe("finished");
  });
  breaking("Marketplace.submissions", async (_, broken) => {
    expect(await (await stuck("submissions", broken, "syncing", submitted(1))).state()).toBe("finished");
  });
  breaking("Marketplace.extend", async (_, broken) => {
    expect(await (await stuck("extend", broken, "extending", submitted(-1))).state()).toBe("running");
  });
  breaking("Marketplace.decide", async (_, broken) => {
    const { bad: wrong, good } = await both("decide", broken, submitted(1));
    const { id, state } = await submissionOf(wrong);
    expect(state).toBe("approving");
    expect(await failures("submission", id)).not.toEqual([]);
    expect(await good.state()).toBe("finished");
  });
  breaking("Marketplace.close", async (how, broken) => {
    const { bad: wrong, good } = await both("close", broken, (one) => t.pawl.crowd.close(one.id));
    expect(await wrong.state()).toBe(isHarmless(how) ? "running" : "closing");
    if (!isHarmless(how)) expect(await failures("crowd", wrong.id)).not.toEqual([]); // Else it looks, and it is open there.
    expect(await good.state()).toBe("closed");
  });
  breaking("Marketplace.dispose", async (how, broken) => {
    const { bad: wrong, good } = await both("dispose", broken, submitted(1));
    await t.advance("1m");
    await impatiently(() => t.work());
    expect(memory.workers.jobsOf(good.id)).toEqual([]);
    expect(memory.workers.jobsOf(wrong.id)).toHaveLength(1);
    const of = t.pawl.internalLifecycles.find((one) => one.name === "pawl_disposal_receipts")!;
    const [disposal] = (await t.pawl.list(of, { limit: 100, state: "disposing" })).map(({ id }) => id);
    if (isHarmless(how)) expect(disposal).toBeUndefined();
    else expect(await failures("disposal", disposal!)).not.toEqual([]);
    breaks = undefined;
    await t.settle("1h"); // What is left of it is disposed of now.
  });
  breaking("Marketplace.bonus", async (how, broken) => {
    const { bad: wrong, good } = await both("bonus", broken, submitted(1));
    const [toBad, toGood] = [await submissionOf(wrong), await submissionOf(good)];
    const { id } = await t.pawl.crowd.bonus(toBad.id, { amount: "1.00", reason: "so fast" });
    await t.pawl.crowd.bonus(toGood.id, { amount: "1.00", reason: "so good" });
    await impatiently(() => t.work());
    expect(memory.bonuses.filter(({ worker }) => worker === toGood.worker)).toHaveLength(1);
    if (!isHarmless(how)) expect(await failures("bonus", id)).not.toEqual([]);
  });

  async function refused(name: string, broken: Broken, call: () => Promise<unknown>): Promise<void> {
    bad.add("all");
    breaks = { name, broken };
    const outcome = await impatiently(call).then(
      () => "fine",
      () => "refused",
    );
    bad.delete("all");
    expect(outcome).toBe("refused");
    await expect(call()).resolves.toBeDefined();
  }
  breaking("Marketplace.balance", (_, broken) => refused("balance", broken, () => t.pawl.crowd.balance("memory")));
  breaking("Marketplace.jobs", (_, broken) => refused("jobs", broken, () => t.pawl.crowd.reconcile()));

  breaking("Marketplace.check", async (_, broken) => {
    const marketplace = Object.assign(memoryMarketplace(), { check: broken }) as Marketplace;
    const declare = (memory: Marketplace) =>
      readDeclared({ lifecycles: [], crowds: [receipts], marketplaces: { memory } });
    expect(() => declare(marketplace)).toThrow();
    expect(declare(memoryMarketplace()).crowds).toHaveLength(1);
  });
  breaking("Marketplace.shutdown", async (how, broken) => {
    const marketplace = Object.assign(memoryMarketplace(), { shutdown: broken }) as Marketplace;
    const own = await testPawl({ lifecycles: [idle], crowds: [receipts], marketplaces: { memory: marketplace } });
    const closed = await impatiently(() => own.close()).then(
      () => "closed",
      () => "failed",
    );
    expect(closed).toBe(fails(how) || how === "never settles" ? "failed" : "closed");
    await expect(own.pawl.inspect.counts(idle)).rejects.toMatchObject({ code: "closed" });
  });
});

breaking("MemoryMarketplaceOptions.now", async (_, broken) => {
  const marketplace = memoryMarketplace({ now: broken });
  const [publish, call] = [marketplace.publish.bind(marketplace), { signal: new AbortController().signal }];
  const posting = { token: "a", owner: "b", crowd: receipts, content: {}, form: receipts.form, excludes: [] };
  await expect(publish({ ...posting, places: 1, lifetimeMs: 1_000 }, call)).rejects.toThrow();
});
