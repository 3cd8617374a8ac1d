import type { Command } from "commander";
import type { Act } from "../program.ts";
import { addInstanceList } from "./instance-list.ts";
import { addInstanceSend } from "./instance-send.ts";
import { addInstanceShow } from "./instance-show.ts";
import { addInstanceStart } from "./instance-start.ts";
import { addInstanceWait } from "./instance-wait.ts";

export function addInstance(program: Command, act: Act): void {
  const instance = program.command("instance").description("start, list, show, move and await instances");
  for (const add of [addInstanceStart, addInstanceList, addInstanceShow, addInstanceSend, addInstanceWait]) {
    add(instance, act);
  }
}
