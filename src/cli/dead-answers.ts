/** What the verbs about dead letters in numbers answer, as it comes over a socket. */

export interface GroupAnswer {
  readonly fingerprint: string;
  readonly lifecycle: string;
  readonly origin: string;
  readonly pattern: string;
  readonly letters: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

export interface PreviewAnswer {
  readonly letters: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly sample: readonly {
    readonly letter: string;
    readonly lifecycle: string;
    readonly key: string | null;
    readonly origin: string;
    readonly outcome: string;
    readonly note: string | null;
  }[];
}

export interface OperationAnswer {
  readonly id: string;
  readonly decision: "requeue" | "discard";
  readonly status: "running" | "done" | "aborted";
  readonly letters: number;
  readonly done: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly refusals: readonly { readonly letter: string; readonly outcome: string; readonly note: string | null }[];
  readonly actor: string | null;
  readonly reason: string | null;
}

export interface TicketAnswer {
  readonly id: string;
  readonly status: "open" | "taken" | "resolved";
  readonly lifecycle: string;
  readonly origin: string;
  readonly reason: string;
  readonly openedAt: string;
  readonly takenBy: string | null;
  readonly resolvedBy: string | null;
  readonly resolution: string | null;
}

export interface ArchiveAnswer {
  readonly name: string;
  readonly archive: string;
  readonly letters: number;
  readonly bytes: number;
  readonly createdAt: string;
}

export interface RestoreAnswer {
  readonly files: number;
  readonly restored: number;
  readonly there: number;
  readonly gone: number;
}
