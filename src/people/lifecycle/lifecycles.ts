import type { LifecycleModel } from "../../definition/model.ts";
import type { QuestionProviders } from "../../kernel/family/question-provider.ts";
import type { MaintenanceDuty } from "../../kernel/kernel.ts";
import type { CompanionTable } from "../../kernel/types/companion-table.ts";
import { recheckEligibility } from "../assigning/eligibility.ts";
import { queueQuestions } from "../question-provider.ts";
import { settleRest } from "../review/settle.ts";
import { assignment } from "./assignment.ts";
import { assignmentCompanions } from "./assignment-companions.ts";
import { sample } from "./sample.ts";
import { sampleCompanions } from "./sample-companions.ts";

/**
 * Registers people with the kernel: two lifecycles, the rows written with their instances, the answers for states that
 * ask, and maintenance.
 */
export const peopleLifecycles: readonly LifecycleModel[] = [sample, assignment];

export const peopleCompanions: ReadonlyMap<string, CompanionTable> = new Map([
  [sample.name, sampleCompanions],
  [assignment.name, assignmentCompanions],
]);

export const peopleQuestionProviders: QuestionProviders = { queue: queueQuestions };

export const peopleDuties: readonly MaintenanceDuty[] = [
  { name: "check samples for eligible labelers", round: recheckEligibility },
  { name: "settle samples", round: settleRest },
];
