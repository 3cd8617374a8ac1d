import { ownSearchPath } from "../port/search-path.ts";

/**
 * How Pawl's own statements are planned. They probe indexes whatever the statistics say: a plan that was made and kept
 * while a table was small would read all of it once it is large. Compiling them costs more than running them.
 */
export const plannerSettings = "-c enable_seqscan=off -c jit=off";

/** What every connection of Pawl's own begins with. A pooler may drop it; see `PostgresDb.transaction`. */
export const startupSettings = `${plannerSettings} -c search_path=${ownSearchPath.replaceAll(" ", "\\ ")}`;
