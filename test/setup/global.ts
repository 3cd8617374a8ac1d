import { setTimeout as pause } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { prepareTestStores } from "../../src/testing/stores.ts";
import { compileAgain, compilePrograms, removePrograms } from "./compile.ts";
import { endGroup } from "./keep.ts";
import { startServices } from "./services.ts";

type Teardown = () => Promise<void>;

/**
 * Once per run, before any test file: the servers, unless `npm test` has started them already, the stores that every
 * test's own database is copied from, and the programs that tests start.
 */
export default async function setUp(project: TestProject): Promise<Teardown> {
  // `npm test` holds the other end of this channel, and its servers go with it.
  process.on("disconnect", () => endGroup(process.pid));
  process.channel?.unref();
  const stopServices = process.env.PAWL_TEST_SERVICES === "started" ? async () => {} : await startOurOwn();
  try {
    const folder = await compilePrograms();
    process.env.PAWL_COMPILED = folder; // The test files' processes inherit it.
    project.onTestsRerun(() => compileAgain(folder));
    const preparing = prepareTestStores({ postgresUrl: process.env.PAWL_TEST_POSTGRES_URL });
    const removeStores = await Promise.race([preparing, patience(60_000)]);
    return async () => {
      await removePrograms(folder);
      await removeStores();
      await stopServices();
    };
  } catch (error) {
    await stopServices();
    throw error;
  }
}

/** For `npx vitest run some.test.ts`. Nothing is installed here: an editor may be what runs it. */
async function startOurOwn(): Promise<Teardown> {
  const services = await startServices({ mayInstall: false, say: (line) => process.stderr.write(`${line}\n`) });
  if (services.env.DATABASE_URL === undefined) delete process.env.DATABASE_URL;
  Object.assign(process.env, services.env); // The test files' processes inherit it.
  return () => services.stop();
}

/** Vitest waits for ever and prints nothing; a database that hangs should be reported. */
async function patience(ms: number): Promise<never> {
  await pause(ms, undefined, { ref: false });
  throw new Error(`The stores for tests were not ready after ${ms / 1000} s.`);
}
