import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import { lanesOf } from "../../src/kernel/lanes/lanes.ts";
import { maintain } from "../../src/maintenance/round.ts";
import { openPglite } from "../../src/store/pglite/open.ts";
import type { Db } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { check } from "./checks/checker.ts";
import { Ledger } from "./checks/ledger.ts";
import { pointsMet } from "./harm/points.ts";
import { Random, repeat, seed } from "./harm/random.ts";
import { type Death, type Died, Victims } from "./harm/victims.ts";
import { errand } from "./worlds/errand.ts";

/** How many processes are killed in all, and how many of them on the embedded database, which takes longer to open. */
const kills = Number(process.env.PAWL_TEST_KILLS ?? 100);
const embedded = Math.round(kills * 0.14);
/** A slow machine kills fewer: this many on each, and then as many as there is time for. */
const withinMs = 1_000 * Number(process.env.PAWL_TEST_KILL_SECONDS ?? 6);

/** Where a commit can be torn from what surrounds it. */
const points = pointsMet("a caller");

/**
 * Each point once; then, in a random order, each at its other visits out of the first, the third and the tenth (as far as
 * two thirds of the number reach), and random moments.
 */
function deaths(count: number, random: Random): Death[] {
  const visits = [1, 3, 10];
  const [once = [], ...more] = visits.map((_, turn) =>
    points.map((at, index) => ({ at, nth: visits[(index + turn) % 3]! })),
  );
  const rest: Death[] = more.flat().slice(0, Math.max(0, Math.ceil((count * 2) / 3) - points.length));
  while (points.length + rest.length < count) rest.push({ afterAnswers: 1 + random.below(40) });
  return [...shuffled(once, random), ...shuffled(rest, random)].slice(0, count);
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const left = [...list];
  return list.map(() => left.splice(random.below(left.length), 1)[0]!);
}

describe("processes that are killed in the middle of their calls", { concurrent: true }, () => {
  const victims = new Victims();
  afterAll(() => victims.end());

  /** Kills one process after the other, several at a time if there is room for them. */
  async function killAll(
    list: readonly Death[],
    env: Record<string, string>,
    { concurrency, least }: { readonly concurrency: number; readonly least: number },
  ): Promise<[Ledger, Died[]]> {
    const ledger = new Ledger();
    const died: Died[] = [];
    const endAt = performance.now() + withinMs;
    let next = 0;
    const slot = async (): Promise<void> => {
      while (next < list.length && (next < least || performance.now() < endAt)) {
        const index = next++;
        const own = { PAWL_VICTIM_NAME: `v${index}`, PAWL_SEED: String(seed + index) };
        died.push(await victims.live({ ...env, ...own }, list[index]!, ledger));
      }
    };
    await Promise.all(Array.from({ length: concurrency }, slot));
    return [ledger, died];
  }

  test("on the embedded database: what was answered is there, once, and nothing is half-written", {
    timeout: withinMs + 200_000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "pawl-kills-"));
    try {
      const list = deaths(embedded, new Random(seed));
      const [ledger, died] = await killAll(
        list,
        { PAWL_VICTIM_FOLDER: join(folder, "db") },
        { concurrency: 1, least: 6 },
      );
      await expectTruth(await openPglite({ folder: join(folder, "db") }), ledger, died);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test.skipIf(process.env.PAWL_TEST_PG_BIN === undefined)(
    "on PostgreSQL: what was answered is there, once, and nothing is half-written",
    { timeout: withinMs + 200_000 },
    async () => {
      const server: PostgresServer = await startPostgres({ durable: true });
      try {
        const list = deaths(kills - embedded, new Random(seed + 1));
        const [ledger, died] = await killAll(
          list,
          { PAWL_VICTIM_URL: server.url },
          { concurrency: 2, least: points.length },
        );
        await expectTruth(await openPostgres({ url: server.url }), ledger, died);
      } finally {
        await server.stop();
      }
    },
  );
});

/** Opens what they left, lets time pass, and compares everything with the results that they got. */
async function expectTruth(db: Db, ledger: Ledger, died: readonly Died[]): Promise<void> {
  const { kernel, pawl } = await openOn(db, { lifecycles: [errand], logger: false });
  try {
    expect(await check(db, ledger), repeat).toEqual([]);
    const lanes = await lanesOf(kernel);
    for (let left = 1; left > 0; ) {
      const round = await maintain(kernel, lanes);
      left = round.fired + round.promoted;
    }
    expect(await check(db, ledger), repeat).toEqual([]);
  } finally {
    await pawl.close();
  }
  const met = new Set(died.map(({ death }) => ("at" in death ? death.at : undefined)));
  expect(
    points.filter((point) => !met.has(point)),
    "points that nobody died at",
  ).toHaveLength(Math.max(0, points.length - died.length));
  const inTheMiddle = died.filter(({ underWay }) => underWay > 0);
  expect(inTheMiddle.length / died.length, "killed in the middle of a call").toBeGreaterThan(0.9);
  expect(ledger.told("done").length).toBeGreaterThan(5 * died.length);
}
