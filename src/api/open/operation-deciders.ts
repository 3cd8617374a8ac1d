import { decideLetters } from "../../dead-letters/letter-operations.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import { decideInstances } from "../../operations/instance-operations.ts";
import type { Deciders } from "../../operations/run-operations.ts";

/** What decides the items of bulk operations in this process. */
export function operationDeciders(kernel: Kernel, verbs: Verbs): Deciders {
  return { dead_letters: decideLetters(kernel, verbs), instances: decideInstances(kernel, verbs) };
}
