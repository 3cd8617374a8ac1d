import { expect, test } from "vitest";
import { examineStandbys, examineTransactions } from "./examine-replication.ts";

const alone = { sees: true, role: "pawl_app", standbys: [], synchronous: "", waiting: 0, horizon: null };
const standby = (name: string, sync: string) => ({ name, sync, state: "streaming" });

test.each([
  ["no standby", alone, { ok: true, found: "none is connected" }],
  [
    "an asynchronous one loses the last commits in a failover",
    { ...alone, standbys: [standby("b", "async")] },
    { ok: true, warning: true, found: "b (async, streaming); replication is asynchronous" },
  ],
  [
    "a synchronous one",
    { ...alone, synchronous: "ANY 1 (b, c)", standbys: [standby("b", "quorum"), standby("c", "quorum")] },
    { ok: true, found: "b (quorum, streaming), c (quorum, streaming)" },
  ],
  [
    "commits that wait for one that is not there",
    { ...alone, synchronous: "b", standbys: [standby("c", "async")], waiting: 3 },
    { ok: false, found: expect.stringContaining("3 commits wait"), remedy: expect.stringContaining("ANY 1 (b, c)") },
  ],
])("standbys: %s", (_what, replication, finding) => {
  expect(examineStandbys(replication)).toMatchObject(finding);
});

test.each([
  [{ what: "transaction", name: "psql", age_s: 20, transactions: 5 }, undefined],
  [
    { what: "transaction", name: "psql", age_s: 7_260, transactions: 5 },
    "transaction psql has been open for 121 minutes",
  ],
  [
    { what: "prepared transaction", name: "t1", age_s: 900, transactions: 5 },
    "prepared transaction t1 has been open for 15 minutes",
  ],
  [{ what: "replication slot", name: "debezium", age_s: null, transactions: 20 }, undefined],
  [
    { what: "replication slot", name: "debezium", age_s: null, transactions: 2_000_000 },
    "replication slot debezium holds back 2000000 transactions",
  ],
] as const)("what keeps the server from cleaning up is named: %j", (horizon, found) => {
  const finding = examineTransactions({ ...alone, horizon });
  if (found === undefined)
    expect(finding).toEqual({ what: "Transactions", ok: true, found: "none has been open for long" });
  else expect(finding).toMatchObject({ ok: true, warning: true, found, remedy: expect.stringContaining("Vacuum") });
});

test("a role that cannot see other sessions is told so, and what to grant, instead of a fault or a false all-clear", () => {
  const blind = { ...alone, sees: false, synchronous: "ANY 1 (b)", standbys: [{ name: "b", sync: null, state: null }] };
  for (const finding of [examineStandbys(blind), examineTransactions(blind)]) {
    expect(finding).toMatchObject({ ok: true, warning: true, remedy: "Run: grant pg_read_all_stats to pawl_app;" });
  }
});
