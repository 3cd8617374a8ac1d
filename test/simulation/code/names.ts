export const breakerName = "dependency";
/** How many steps of a state with a rate may begin in a minute. */
export const ratePerMinute = 3;
export const canaryName = "canary";
/** Where `before` hooks write. */
export const hooksTable = "public.simulated_hooks";

/** What a function of a definition gets, as far as simulated ones use it. */
export interface Context {
  readonly data: Readonly<Record<string, unknown>>;
  readonly payload: unknown;
  readonly id: string;
  readonly state: string;
}
