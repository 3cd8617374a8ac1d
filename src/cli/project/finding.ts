/** One thing that was looked at: how it is, and what to do about it if it is not well. */
export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** It works, and should be changed all the same. */
  readonly warning?: true;
  readonly found: string;
  readonly remedy?: string;
}
