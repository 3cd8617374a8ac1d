/** What the verbs about people answer, as it comes over a socket: dates are ISO texts. */

export interface QueueAnswer {
  readonly name: string;
  readonly source: "code" | "run_time";
  readonly active: boolean;
  readonly overlap: number;
  readonly order: string;
  readonly labelers: readonly string[] | null;
  readonly skills: readonly string[];
  readonly finishWithinMs: number;
  readonly startWithinMs: number | null;
  readonly maxAttemptsPerLabeler: number;
  readonly maxAttemptsTotal: number;
  readonly review: boolean;
}

export interface AssignmentAnswer {
  readonly id: string;
  readonly sampleId: string;
  readonly labelerId: string;
  readonly queueId: string;
  readonly status: string;
  readonly deadline: string | null;
  readonly startBy: string | null;
  readonly attempts: number;
  readonly skipReason: string | null;
  readonly revisionOf: string | null;
}

export type NextAnswer =
  | {
      readonly assignment: AssignmentAnswer;
      readonly sample: { readonly id: string; readonly key: string | null; readonly data: unknown };
      readonly resumed: boolean;
    }
  | { readonly assignment: null; readonly why: { readonly sentence: string } };

export interface LabelAnswer {
  readonly id: string;
  readonly assignmentId: string;
  readonly sampleId: string;
  readonly labelerId: string;
  readonly value: unknown;
  readonly at: string;
  readonly late: boolean;
  readonly review: string | null;
}

export interface SampleAnswer {
  readonly id: string;
  readonly key: string | null;
  readonly data: unknown;
  readonly state: string;
  readonly needs: number;
  readonly labeled: number;
  readonly held: number;
  readonly consensus: unknown;
  readonly agreement: number | null;
  readonly reason: string | null;
  readonly movedAt: string;
}

export interface MetricsAnswer {
  readonly labeler?: string;
  readonly hour?: string;
  readonly total: number;
  readonly byStatus: Readonly<Record<"pending" | "in_progress" | "completed" | "expired" | "skipped", number>>;
  readonly expired: Readonly<Record<"neverStarted" | "unfinished" | "released", number>>;
  readonly completionRate: number | null;
  readonly skipRate: number | null;
  readonly expireRate: number | null;
  readonly avgTimeToComplete: number | null;
  readonly avgAttempts: number | null;
  readonly late: number;
  readonly rejected: number;
  readonly gold: { readonly labels: number; readonly right: number; readonly accuracy: number | null };
}

export interface LabelerAnswer {
  readonly id: string;
  readonly name: string | null;
  readonly skills: readonly string[];
  readonly active: boolean;
}
