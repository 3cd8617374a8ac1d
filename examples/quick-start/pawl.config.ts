import { defineConfig } from "pawl";
import { expense } from "./expense.ts";

export default defineConfig({
  lifecycles: [expense],

  /** Three expenses as example data. */
  seed: async (pawl) => {
    const start = (key: string, employee: string, purpose: string, amount: number) =>
      pawl.start(expense, { key, data: { employee, purpose, amount }, actor: employee });
    await start("team-lunch", "linus", "lunch", 96);
    await pawl.send(expense, "team-lunch", "ask", { question: "With whom?" }, { actor: "grace" });
    await start("keyboard", "edsger", "a quieter keyboard", 79.9);
    await pawl.send(expense, "keyboard", "approve", { actor: "grace", reason: "please, yes" });
    await start("trip-to-oslo", "ada", "train and two nights in Oslo", 412.5);
  },
});
