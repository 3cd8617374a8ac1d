import type { AnyLifecycle } from "pawl";
import type { UserCode } from "./user-code.ts";

/** What the states of all lifecycles are made with. */
export interface Parts {
  readonly code: UserCode;
  readonly newerBy: number;
  readonly opinions: object;
  readonly built: ReadonlyMap<string, AnyLifecycle>;
}
