/** The result of one check, and what to do if it failed. */
export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** It works, and should be changed all the same. */
  readonly warning?: true;
  readonly found: string;
  readonly remedy?: string;
}
