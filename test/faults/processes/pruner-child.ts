import { openOn } from "../../../src/api/open/create.ts";
import { prune } from "../../../src/kernel/maintenance/prune.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { faultsFrom } from "../../../src/testing/faults.ts";
import { leaf } from "../worlds/leaf.ts";

/** Prunes, and dies while doing so. */
const db = await openPostgres({ url: process.env.PAWL_VICTIM_URL! });
const { kernel } = await openOn(
  db,
  { lifecycles: [leaf], logger: false },
  { faults: faultsFrom(process.env.PAWL_FAULT) },
);
await prune(kernel);
