/** What `explore` can find. Stable, so that a test can allow one of them by name. */
export type FindingCode =
  | "exit_guarded"
  | "timeout_stays"
  | "timeout_optional"
  | "timeout_unreachable"
  | "wait_unbounded"
  | "recovery_refused"
  | "recovery_too_late"
  | "join_skipped"
  | "loop_unbounded"
  | "event_forgotten"
  | "deadline_unmeetable"
  | "release_too_slow"
  | "retries_too_slow"
  | "budget_endless"
  | "function_failed";

/** One weakness of a definition, where it is, and what to do about it. */
export interface Finding {
  readonly code: FindingCode;
  /**
   * An `error` happens to some instance by itself; a `warning` depends on a guard, on data, or on people and services.
   */
  readonly severity: "error" | "warning";
  /** The state that it is about; null for the lifecycle as a whole. */
  readonly state: string | null;
  /** The event of the finding, if there is one. */
  readonly event: string | null;
  /** The states of a loop, in their order, the first one again at the end. Empty for other findings. */
  readonly path: readonly string[];
  readonly message: string;
  readonly remedy: string;
}

/** Collects findings. */
export class Findings {
  readonly list: Finding[] = [];

  add(
    code: FindingCode,
    severity: Finding["severity"],
    about: { readonly state?: string; readonly event?: string; readonly path?: readonly string[] },
    message: string,
    remedy: string,
  ): void {
    const { state = null, event = null, path = [] } = about;
    this.list.push({ code, severity, state, event, path, message, remedy });
  }
}
