/** What the pages see of Pawl: the answers of its routes, as they are after their way over the wire. Types alone. */
import type { Token } from "../access/access.ts";
import type { Permission, Role } from "../access/roles.ts";
import type { AttemptEntry, Instance, JournalEntry } from "../shown.ts";
import type { Wire } from "./api/schema.ts";
import type { Problem } from "./problem.ts";

export type { Problem };

export interface SessionAnswer {
  readonly name: string;
  readonly role: Role;
  readonly labeler: string | null;
  readonly may: readonly Permission[];
}

export type InstanceAnswer = Wire<Instance>;
export type JournalAnswer = Wire<JournalEntry | AttemptEntry>;

/** A lifecycle with how many instances stand in each of its states. */
export interface LifecycleAnswer {
  readonly name: string;
  readonly version: number;
  readonly initial: string;
  readonly states: readonly {
    readonly name: string;
    readonly kind: string;
    readonly final: "success" | "failure" | "discarded" | null;
    readonly instances: number;
  }[];
}

/** A token that was given out. */
export type TokenAnswer = Wire<Token>;

/** A link that signs somebody in once. */
export interface SignInAnswer {
  readonly path: string;
  readonly url: string | null;
}
