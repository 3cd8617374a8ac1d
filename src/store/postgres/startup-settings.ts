import { ownSearchPath } from "../port/search-path.ts";

/**
 * Planner settings for Pawl's own statements. They always use indexes, whatever the statistics: a plan that was cached
 * while a table was small would scan all of it once it is large. JIT compilation costs more than running them.
 */
export const plannerSettings = "-c enable_seqscan=off -c jit=off";

/** What every connection of Pawl's own begins with. A pooler may drop it; see `PostgresDb.transaction`. */
export const startupSettings = `${plannerSettings} -c search_path=${ownSearchPath.replaceAll(" ", "\\ ")}`;
