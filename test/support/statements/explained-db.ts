import pg from "pg";
import type { Db, Statement, Tx } from "../../../src/store/port/db.ts";
import { translate } from "../../../src/store/port/failures.ts";
import { plannerSettings } from "../../../src/store/postgres/startup-settings.ts";

/** A database that explains every statement that runs on it, including those inside triggers. */
export interface ExplainedDb extends Db {
  /** The plans since the last call, as Postgres prints them. */
  plans(): string[];
}

/** One connection as a superuser, planning as Pawl's own connections do, with auto_explain loaded for itself only. */
export async function openExplained(
  url: string,
  planning: "force_custom_plan" | "force_generic_plan",
): Promise<ExplainedDb> {
  const client = new pg.Client({ connectionString: url, options: plannerSettings });
  await client.connect();
  let plans: string[] = [];
  client.on("notice", (notice) => plans.push(notice.message ?? ""));
  await client.query(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_level = notice;
    set client_min_messages = notice;
    set plan_cache_mode = ${planning};`);
  const run = async <Row>(statement: Statement): Promise<Row[]> => {
    try {
      const { text, values, name } = statement;
      return (await client.query({ text, values: values as unknown[], name: name === "" ? undefined : name }))
        .rows as Row[];
    } catch (error) {
      throw translate(error, "running");
    }
  };
  const tx: Tx = { rows: run, query: async (text, values) => client.query(text, values as unknown[]) as never };
  return {
    kind: "postgres",
    rows: run,
    async transaction(work) {
      await client.query("begin");
      try {
        const result = await work(tx);
        await client.query("commit");
        return result;
      } catch (error) {
        await client.query("rollback");
        throw error;
      }
    },
    script: async (text) => void (await client.query(text)),
    close: () => client.end(),
    plans() {
      const told = plans;
      plans = [];
      return told;
    },
  };
}
