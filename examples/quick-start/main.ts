import { createPawl, isPawlError } from "pawl";
import { expense } from "./expense.ts";

// Without a URL the database is embedded, in ./.pawl; the rest is the same.
const pawl = await createPawl({ database: process.env.DATABASE_URL, lifecycles: [expense] });
pawl.work(); // Runs steps in this process; any number of processes may.

const claim = await pawl.start(expense, {
  data: { employee: "ada", purpose: "train to Oslo", amount: 120 },
  actor: "ada",
});
console.log(`started in ${claim.state}`);

// A guard refuses, with the reason.
try {
  await pawl.send(expense, claim, "approve", { actor: "ada" });
} catch (error) {
  if (isPawlError(error, "transition_refused")) console.log(`refused: ${error.message}`);
}

// Any instance can be failed by hand, and recovers to its last state.
await pawl.send(expense, claim, "fail", { reason: "the receipt is unreadable" }, { actor: "grace" });
await pawl.send(expense, claim, "recover", { actor: "grace", reason: "a new scan came in" });

await pawl.send(expense, claim, "approve", { actor: "grace" });
const paid = await pawl.wait(expense, claim, { until: "paid" });
console.log(`${paid.state}, approved by ${paid.data.approver}`);

// The complete history.
for (const { version, event, from, to, actor } of await pawl.journal(expense, claim)) {
  console.log(`${version}. ${event}: ${from ?? "(new)"} → ${to}${actor === null ? "" : `, by ${actor}`}`);
}
await pawl.close();
