import type { Command } from "commander";
import type { Act } from "../../program.ts";
import { addInstanceList } from "./list.ts";
import { addInstanceSend } from "./send.ts";
import { addInstanceShow } from "./show.ts";
import { addInstanceStart } from "./start.ts";
import { addInstanceWait } from "./wait.ts";

export function addInstance(program: Command, act: Act): void {
  const instance = program
    .command("instance")
    .description("start, list, show and wait for instances, and send them events");
  for (const add of [addInstanceStart, addInstanceList, addInstanceShow, addInstanceSend, addInstanceWait]) {
    add(instance, act);
  }
}
