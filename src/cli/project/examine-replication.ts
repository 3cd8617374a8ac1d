import type { replication } from "../../api/open/database.ts";
import { visible } from "../show/terminal.ts";
import type { Finding } from "./finding.ts";

type Replication = Awaited<ReturnType<typeof replication>>;

/** Whether commits reach a standby, and whether they wait for one that is not there. */
export function examineStandbys({ sees, role, standbys, synchronous, waiting }: Replication): Finding {
  const what = "Standbys";
  if (!sees) return hidden(what, role, "the state of standbys");
  const list = standbys.map(({ name, sync, state }) => `${visible(name)} (${sync}, ${state})`).join(", ");
  const isSynchronous = standbys.some(({ sync }) => sync === "sync" || sync === "quorum");
  if (synchronous !== "" && !isSynchronous) {
    const found = `synchronous_standby_names is set, and no synchronous standby is connected: ${waiting} commits wait`;
    const remedy =
      "Every write waits until a standby connects. Start one, or name several in synchronous_standby_names, such as ANY 1 (b, c).";
    return { what, ok: false, found, remedy };
  }
  if (list === "") return { what, ok: true, found: "none is connected" };
  if (synchronous === "") {
    const remedy = "A failover to an asynchronous standby loses the last commits. See the guide on failover.";
    return { what, ok: true, warning: true, found: `${list}; replication is asynchronous`, remedy };
  }
  return { what, ok: true, found: list };
}

const longTransactionS = 900;
/** What has no start time is judged by what began since: a busy Pawl makes that many in less than an hour. */
const manyTransactions = 1_000_000;

/** Warns of what keeps the server from cleaning up: open transactions, prepared ones, replication slots, standbys. */
export function examineTransactions({ sees, role, horizon }: Replication): Finding {
  const what = "Transactions";
  const old =
    horizon !== null &&
    (horizon.age_s === null ? horizon.transactions >= manyTransactions : horizon.age_s >= longTransactionS);
  if (!old) {
    if (!sees) return hidden(what, role, "how long transactions of other roles have been open");
    return { what, ok: true, found: "none has been open for long" };
  }
  const name = `${horizon.what} ${visible(horizon.name)}`;
  const found =
    horizon.age_s === null
      ? `${name} holds back ${horizon.transactions} transactions`
      : `${name} has been open for ${Math.floor(horizon.age_s / 60)} minutes`;
  return {
    what,
    ok: true,
    warning: true,
    found,
    remedy: `Vacuum removes no row that was deleted since it began, and claims slow down. ${ends[horizon.what]}`,
  };
}

const ends = {
  transaction: "End it, or set idle_in_transaction_session_timeout.",
  "prepared transaction": "Finish it with COMMIT PREPARED or ROLLBACK PREPARED.",
  "replication slot": "Start its consumer, or drop it with pg_drop_replication_slot().",
  standby: "Its queries run long with hot_standby_feedback = on; end them.",
} satisfies Record<NonNullable<Replication["horizon"]>["what"], string>;

function hidden(what: string, role: string, hides: string): Finding {
  return {
    what,
    ok: true,
    warning: true,
    found: `role ${visible(role)} cannot see ${hides}`,
    remedy: `Run: grant pg_read_all_stats to ${role};`,
  };
}
