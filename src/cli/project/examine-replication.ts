import type { replication } from "../../api/open/database.ts";
import { visible } from "../show/terminal.ts";
import type { Finding } from "./finding.ts";

type Replication = Awaited<ReturnType<typeof replication>>;

/** Whether commits reach a standby, and whether they wait for one that is not there. */
export function examineStandbys({ standbys, synchronous, waiting }: Replication): Finding {
  const what = "Standbys";
  const list = standbys.map(({ name, sync, state }) => `${visible(name)} (${sync}, ${state})`).join(", ");
  const isSynchronous = standbys.some(({ sync }) => sync === "sync" || sync === "quorum");
  if (synchronous !== "" && !isSynchronous) {
    const found = `synchronous_standby_names is set, and no synchronous standby is connected: ${waiting} commits wait`;
    const remedy =
      "Every write waits until a standby connects. Start one, or name several in synchronous_standby_names, such as ANY 1 (b, c).";
    return { what, ok: false, found, remedy };
  }
  if (list === "") return { what, ok: true, found: "none is connected, or this role may not see them" };
  if (synchronous === "") {
    const remedy = "A failover to an asynchronous standby loses the last commits. See the guide on connections.";
    return { what, ok: true, warning: true, found: `${list}; replication is asynchronous`, remedy };
  }
  return { what, ok: true, found: list };
}

const longTransactionS = 900;

/** Warns of a transaction that keeps the server from cleaning up. */
export function examineTransactions({ oldest_transaction_s: ageS, oldest_transaction_by: by }: Replication): Finding {
  const what = "Transactions";
  if (ageS === null || ageS < longTransactionS) return { what, ok: true, found: "none has been open for long" };
  const found = `one of ${visible(by ?? "another session")} has been open for ${Math.floor(ageS / 60)} minutes`;
  const remedy =
    "Vacuum removes no row that was deleted since it began, and claims slow down. End it, or set idle_in_transaction_session_timeout.";
  return { what, ok: true, warning: true, found, remedy };
}
