/** A delayed event, a timeout, a callback or an event of Pawl's own whose guard, `set` or `before` hook threw, for the log. */
export interface FailedEvent {
  readonly event: string;
  readonly attempt: number;
  /** Null: it is not tried again. */
  readonly retryAfterMs: number | null;
  readonly thrown: unknown;
}
