import type { Pawl } from "../../api/pawl.ts";
import { messageOf, PawlError } from "../../base/errors.ts";
import type { Settings } from "../project/settings.ts";

/** Long for examples in an embedded database. */
const seedLimitMs = 5 * 60_000;

/** Runs the `seed` of a config, for something to see in a database that has held nothing yet. */
export async function seedPawl(pawl: Pawl, config: Pick<NonNullable<Settings["config"]>, "seed" | "path"> | undefined) {
  const seed = config?.seed;
  if (config === undefined || seed === undefined) return;
  for (const lifecycle of [...pawl.lifecycles, ...pawl.internalLifecycles]) {
    if (Object.keys(await pawl.inspect.counts(lifecycle)).length > 0) return;
  }
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not finish within ${seedLimitMs} ms.`)), seedLimitMs);
  });
  try {
    await Promise.race([(async () => seed(pawl))(), tooLate]);
  } catch (error) {
    const message = `The \`seed\` of the config failed: ${messageOf(error)}`;
    throw new PawlError("config_invalid", message, { path: config.path }, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
