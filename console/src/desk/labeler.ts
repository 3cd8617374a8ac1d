import { computed, signal } from "@preact/signals";
import { read, write } from "../preferences/stored-choice.ts";
import { session } from "../session.ts";

const chosen = signal(read("desk.labeler"));

/** The labeler of this desk: a labeler's own name; others who may label choose one, or use their own name. */
export const labeler = computed(() => session.value?.labeler ?? chosen.value ?? session.value?.name ?? "");

/** Whether one can choose as whom to work. */
export const canChoose = computed(() => session.value?.labeler === null);

export function workAs(name: string): void {
  chosen.value = name;
  write("desk.labeler", name);
}
