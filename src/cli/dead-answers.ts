import type { Pawl } from "../pawl.ts";
import type { InJson } from "./answers.ts";

type Answer<Verb extends keyof Pawl["dead"]> = InJson<Awaited<ReturnType<Pawl["dead"][Verb]>>>;

/** What the verbs about dead letters in numbers answer, as it comes over a socket. */
export type GroupAnswer = Answer<"groups">[number];
export type PreviewAnswer = Answer<"preview">;
export type OperationAnswer = Answer<"operations">[number];
export type TicketAnswer = Answer<"tickets">[number];
export type ArchiveAnswer = Answer<"archives">[number];
export type RestoreAnswer = Answer<"restore">;
