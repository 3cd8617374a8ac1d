import { expect, test } from "vitest";
import { examineStandbys, examineTransactions } from "./examine-replication.ts";

const alone = { standbys: [], synchronous: "", waiting: 0, oldest_transaction_s: null, oldest_transaction_by: null };
const standby = (name: string, sync: string) => ({ name, sync, state: "streaming" });

test.each([
  ["no standby", alone, { ok: true, found: expect.stringContaining("none is connected") }],
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

test("a transaction that has been open for long is named", () => {
  const young = { ...alone, oldest_transaction_s: 20, oldest_transaction_by: "psql" };
  expect(examineTransactions(young)).toMatchObject({ ok: true, found: "none has been open for long" });
  expect(examineTransactions({ ...young, oldest_transaction_s: 7_260 })).toMatchObject({
    ok: true,
    warning: true,
    found: "one of psql has been open for 121 minutes",
  });
});
