import { type Db, sql } from "../../../src/store/port/db.ts";
import type { Finding, Witness } from "./checker.ts";

/** Checks, after the last fault, that everything continues: nothing is long overdue, and no transaction stays open. */
export class Liveness implements Witness {
  readonly #withinMs: number;

  constructor(withinMs = 30_000) {
    this.#withinMs = withinMs;
  }

  async contradictions(db: Db): Promise<Finding[]> {
    const rows = await db.rows<{ message: string }>(sql`
      with clock as (select pawl.now() - ${this.#withinMs}::float8 * interval '1 millisecond' as bound)
      select format('the lease of %s in %s ran out at %s, and nobody took it over', task.id, task.lane, task.leased_until) as message
      from pawl.tasks as task, clock where task.worker is not null and task.leased_until < clock.bound
      union all
      select format('%s was to be tried again in %s at %s', task.id, task.lane, task.due_at)
      from pawl.tasks as task, clock where task.due_at < clock.bound
      union all
      select format('a timer of %s was due at %s', instance.id, instance.next_due_at)
      from pawl.instances as instance, clock where instance.next_due_at < clock.bound
      union all
      select format('connection %s is idle in a transaction since %s', backend.pid, backend.state_change)
      from pg_stat_activity as backend
      where backend.datname = current_database() and backend.state = 'idle in transaction'
        and backend.state_change < clock_timestamp() - ${this.#withinMs}::float8 * interval '1 millisecond'`);
    return rows.map(({ message }) => ({ invariant: "I9", message }));
  }
}
