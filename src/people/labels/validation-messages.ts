import type { LabelFault } from "./label-faults.ts";

/** A label and the JSON Schema that the thread validates it against. */
export interface ToThread {
  readonly form: object;
  readonly label: unknown;
}

export type FromThread =
  | { readonly ready: true }
  | { readonly faults: readonly LabelFault[] }
  | { readonly failure: string };
