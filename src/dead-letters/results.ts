import { dateOf } from "../base/moment.ts";
import type { DeadLetterView } from "../views/dead-letters.ts";
import type { Preview } from "./letter-operations.ts";
import type { ArchiveView } from "./views/archives.ts";
import type { LetterGroupView } from "./views/dead-letters.ts";
import type { TicketView } from "./views/tickets.ts";

type Kind = TicketView["kind"];

/** Work that failed permanently, with the reason. */
export interface DeadLetter {
  readonly id: string;
  /** The id of the instance, and its key; null for a message that no instance published. */
  readonly instance: string | null;
  readonly key: string | null;
  /** The lifecycle, or the subject of a message. */
  readonly lifecycle: string;
  /** `broker`: a message that died in the queue of a broker. */
  readonly kind: "instance" | "effect" | "message" | "broker";
  /** The state of a failed instance, the event of an after-effect, the type of a message, or a broker's queue. */
  readonly origin: string;
  readonly reason: string;
  readonly error: { readonly name: string; readonly message: string; readonly stack?: string } | null;
  readonly attempts: number;
  readonly payload: unknown;
  /** What led to it, such as the failures that were counted. */
  readonly details: unknown;
  /** Equal for all letters with the same place and error; see `pawl.deadLetters.groups`. */
  readonly fingerprint: string;
  readonly status: "open" | "requeued" | "discarded" | "archived";
  readonly createdAt: Date;
  /** When a person decided, who, and why. */
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  readonly decision: string | null;
}

export function letterOf(row: DeadLetterView): DeadLetter {
  const { id, key, lifecycle, kind, origin, reason, error, attempts, payload, details, fingerprint, status } = row;
  return {
    ...{ id, key, lifecycle, kind, origin, reason, error, attempts, payload, details, fingerprint, status },
    instance: row.instance_id,
    createdAt: new Date(row.created_ms),
    decidedAt: dateOf(row.decided_ms),
    decidedBy: row.decided_by,
    decision: row.decision,
  };
}

/** A dead letter that a person must handle. */
export interface Ticket {
  /** The id of its dead letter. */
  readonly id: string;
  readonly status: "open" | "assigned" | "resolved";
  readonly lifecycle: string;
  readonly kind: Kind;
  readonly origin: string;
  readonly reason: string;
  /** Its error without what differs from case to case. */
  readonly pattern: string;
  readonly fingerprint: string;
  readonly openedAt: Date;
  readonly assignee: string | null;
  readonly assignedAt: Date | null;
  readonly resolvedBy: string | null;
  readonly resolvedAt: Date | null;
  readonly resolution: string | null;
}

export function ticketOf(row: TicketView): Ticket {
  const { id, status, lifecycle, kind, origin, reason, pattern, fingerprint, resolution } = row;
  return {
    ...{ id, status, lifecycle, kind, origin, reason, pattern, fingerprint, resolution },
    openedAt: new Date(row.opened_ms),
    assignee: row.assignee,
    assignedAt: dateOf(row.assigned_ms),
    resolvedBy: row.resolved_by,
    resolvedAt: dateOf(row.resolved_ms),
  };
}

/** Open dead letters with the same place and the same error, except for numbers and ids. */
export interface DeadLetterGroup {
  readonly fingerprint: string;
  readonly lifecycle: string;
  readonly kind: Kind;
  readonly origin: string;
  readonly pattern: string;
  readonly reasons: readonly string[];
  readonly letters: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** The id of the newest, as an example. */
  readonly newest: string;
}

export function groupOf({ first_ms, last_ms, ...row }: LetterGroupView): DeadLetterGroup {
  return { ...row, firstAt: new Date(first_ms), lastAt: new Date(last_ms) };
}

/** The expected result of a bulk decision. */
export interface DecisionPreview {
  readonly letters: number;
  /** Counts by outcome: `requeued`, `discarded`, or the code of the error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** A few of each. */
  readonly sample: readonly {
    readonly letter: string;
    readonly lifecycle: string;
    readonly key: string | null;
    readonly origin: string;
    readonly outcome: string;
    readonly note: string | null;
  }[];
}

export function previewOf({ letters, outcomes, sample }: Preview): DecisionPreview {
  return {
    letters,
    outcomes,
    sample: sample.map(({ letter: { id, lifecycle, key, origin }, outcome, note }) => ({
      ...{ letter: id, lifecycle, key, origin, outcome, note },
    })),
  };
}

/** A file of dead letters in an archive. */
export interface ArchivedFile {
  readonly name: string;
  /** The archive that it was written to. */
  readonly archive: string;
  readonly letters: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly createdAt: Date;
}

export function archivedOf({ name, store, letters, bytes, sha256, created_ms }: ArchiveView): ArchivedFile {
  return { name, archive: store, letters, bytes, sha256, createdAt: new Date(created_ms) };
}
