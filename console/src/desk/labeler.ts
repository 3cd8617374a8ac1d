import { computed, signal } from "@preact/signals";
import { read, write } from "../preferences/stored-choice.ts";
import { session } from "../session.ts";

const chosen = signal(read("desk.labeler"));

/** As whom one works: a labeler as himself; whoever else may label says as whom, or is called by his own name. */
export const labeler = computed(() => session.value?.labeler ?? chosen.value ?? session.value?.name ?? "");

/** Whether one can choose as whom to work. */
export const canChoose = computed(() => session.value?.labeler === null);

export function workAs(name: string): void {
  chosen.value = name;
  write("desk.labeler", name);
}
