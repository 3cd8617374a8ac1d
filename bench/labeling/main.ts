/**
 * How fast people can be served on PostgreSQL: whole cycles (next, start, submit) by one labeler and by many at once, and
 * how long `next` takes with ever more samples waiting, also for a labeler who has done most of them. Machines differ and
 * are noisy: read how the figures stand to each other.
 *
 *   npm run bench:labeling              up to 100,000 samples
 *   npm run bench:labeling -- 1000000
 */
import { createPawl, type Pawl, queue } from "pawl";
import { startPostgres } from "../../test/setup/postgres.ts";

const label = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } as const;
const ok = { ok: true };
const most = Number(process.argv[2] ?? 100_000);
const sizes = [1_000, 10_000, 100_000, 1_000_000].filter((size) => size <= most);
const crowd = Array.from({ length: 64 }, (_, index) => `labeler-${index}`);

const server = await startPostgres();
try {
  for (const size of sizes) {
    const name = `waiting-${size}`;
    const pawl = await createPawl({
      database: server.url,
      lifecycles: [],
      queues: [queue(name, { label, overlap: 3 })],
    });
    await fill(pawl, name, size);
    const alone = await latencies(200, () => cycle(pawl, name, "ada"));
    const next = await latencies(200, () => nextAndBack(pawl, name, "ben"));
    const ahead = await farAhead(pawl, name, size);
    const perSecond = await together(pawl, name, 10);
    console.log(
      [
        `${size.toLocaleString("en")} samples waiting`.padEnd(28),
        `one labeler, a cycle ${shown(alone)}`,
        `next and release ${shown(next)}`,
        `for one far ahead ${shown(ahead)}`,
        `64 labelers ${Math.round(perSecond).toLocaleString("en")} cycles/s`,
      ].join("   "),
    );
    await pawl.close();
  }
} finally {
  await server.stop();
}

async function fill(pawl: Pawl, name: string, size: number): Promise<void> {
  for (let from = 0; from < size; from += 5_000) {
    const samples = Array.from({ length: Math.min(5_000, size - from) }, (_, index) => ({ data: { n: from + index } }));
    await pawl.people.addMany(name, samples);
  }
}

async function cycle(pawl: Pawl, name: string, labeler: string): Promise<void> {
  const { assignment } = await pawl.people.next(name, labeler);
  await pawl.people.start(assignment!.id, labeler);
  await pawl.people.submit(assignment!.id, labeler, ok);
}

async function nextAndBack(pawl: Pawl, name: string, labeler: string): Promise<void> {
  const { assignment } = await pawl.people.next(name, labeler);
  await pawl.people.release(assignment!.id, { actor: "lead" });
}

/** The labeler has done up to a tenth of the queue, which is open for others and not for him. */
async function farAhead(pawl: Pawl, name: string, size: number): Promise<number[]> {
  for (let n = 0; n < Math.min(size / 10, 2_000); n++) await cycle(pawl, name, "zoe");
  return latencies(100, () => nextAndBack(pawl, name, "zoe"));
}

async function together(pawl: Pawl, name: string, each: number): Promise<number> {
  const began = performance.now();
  await Promise.all(
    crowd.map(async (labeler) => {
      for (let n = 0; n < each; n++) await cycle(pawl, name, labeler);
    }),
  );
  return (crowd.length * each) / ((performance.now() - began) / 1_000);
}

async function latencies(count: number, run: () => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    await run();
    took.push(performance.now() - began);
  }
  return took.sort((one, other) => one - other);
}

function shown(took: readonly number[]): string {
  const at = (share: number) => took[Math.floor((took.length - 1) * share)]!.toFixed(1);
  return `${at(0.5)} ms (p95 ${at(0.95)})`;
}
