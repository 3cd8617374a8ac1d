import { about, id, text, whole } from "./schema.ts";

/** Who does it; defaults to who has come in. */
export const actor = {
  actor: about(text, "In whose name, where a service or an admin speaks for others; else whoever has come in."),
};

/** Why something is done, and by whom. */
export const cause = { reason: about(text, "Why; it is kept with what was done."), ...actor };

/** The same request twice happens once. */
export const repeat = { idempotencyKey: about(text, "The same as the header `Idempotency-Key`.") };

/** A page of a list. */
export const page = {
  limit: about(whole, "At most so many: 100 unless given, 1,000 at most."),
  after: about(id, "The id of the last one of the page before."),
};

/** The last one of the page before, as `Pawl` takes it. */
export function after(last: string | undefined): { readonly id: string } | undefined {
  return last === undefined ? undefined : { id: last };
}
