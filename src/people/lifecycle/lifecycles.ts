import type { LifecycleModel } from "../../definition/model.ts";
import type { QuestionProviders } from "../../kernel/family/question-provider.ts";
import type { Chore } from "../../kernel/kernel.ts";
import type { CompanionTable } from "../../kernel/types/companion-table.ts";
import { askPeople } from "../asker.ts";
import { recheckEligibility } from "../handing-out/eligibility.ts";
import { settleRest } from "../review/settle.ts";
import { assignment } from "./assignment.ts";
import { besideAssignments } from "./beside-assignments.ts";
import { besideSamples } from "./beside-samples.ts";
import { sample } from "./sample.ts";

/**
 * Registers people with the kernel: two lifecycles, the rows written with their instances, the answers for states that
 * ask, and maintenance.
 */
export const peopleLifecycles: readonly LifecycleModel[] = [sample, assignment];

export const peopleBesides: ReadonlyMap<string, CompanionTable> = new Map([
  [sample.name, besideSamples],
  [assignment.name, besideAssignments],
]);

export const peopleAskers: QuestionProviders = { queue: askPeople };

export const peopleChores: readonly Chore[] = [
  { name: "check samples for eligible labelers", round: recheckEligibility },
  { name: "settle samples", round: settleRest },
];
