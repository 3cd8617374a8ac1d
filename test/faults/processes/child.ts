import { openOn } from "../../../src/api/open/create.ts";
import { verify } from "../../../src/inspect/verify/verify.ts";
import type { Faults } from "../../../src/kernel/faults.ts";
import { lanesOf } from "../../../src/kernel/lanes/lanes.ts";
import { openPglite } from "../../../src/store/pglite/open.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { faultsFrom } from "../../../src/testing/faults.ts";
import { callUntil } from "../harm/callers.ts";
import { Random } from "../harm/random.ts";
import { writeLine } from "../harm/write-line.ts";
import { createBooked, errand } from "../worlds/errand.ts";

/**
 * A program that is made to be killed. It opens a Pawl, verifies the state that the last one left, and then makes calls
 * in a loop. Calls and results are written before it continues, so its death loses no line.
 */
const { PAWL_VICTIM_URL: url, PAWL_VICTIM_FOLDER: folder, PAWL_VICTIM_NAME: name = "" } = process.env;

process.stdin.on("end", () => process.exit(0)).resume(); // The parent process is gone.

const db = url === undefined ? await openPglite({ folder: folder! }) : await openPostgres({ url, connections: 4 });
const planted = faultsFrom(process.env.PAWL_FAULT);
const faults: Faults | undefined = planted && {
  async at(point) {
    writeLine("fault", point, String(planted.visits(point) + 1));
    await planted.at(point);
  },
};
const { pawl, kernel } = await openOn(db, { lifecycles: [errand], logger: false }, { faults });
await createBooked(db);
for (const { invariant, instance, message } of await verify(db))
  writeLine("violation", `${invariant} ${instance} ${message}`);
const found = await pawl.list(errand, { limit: 30 });
writeLine("ready");

await callUntil(
  {
    name,
    pawl,
    kernel,
    lanes: await lanesOf(kernel),
    random: new Random(Number(process.env.PAWL_SEED)),
    book: {
      begin: (mark, rows) => writeLine("begin", mark, String(rows)),
      answer: (mark, answer) => writeLine("answer", mark, answer),
    },
    keys: found.flatMap(({ key }) => (key === null || key.startsWith("end:") ? [] : [key])),
    whenBack: () => Promise.reject(new Error("The database is gone.")),
  },
  () => false,
);
