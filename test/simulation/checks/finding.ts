import type { Violation } from "../../../src/inspect/verify/verify.ts";

/** Something that must not be, by the invariant that it breaks. */
export interface Finding {
  readonly invariant:
    | Violation["invariant"]
    | "I5"
    | "I8"
    | "I9"
    | "I10"
    | "gates"
    | "effects"
    | "alerts"
    | "retention"
    | "rest";
  readonly message: string;
}
