import { about, id, text, whole } from "./schema.ts";

/** The actor; defaults to the caller. */
export const actor = {
  actor: about(text, "The actor to record, if a service or an admin acts for others. Defaults to the caller."),
};

/** Why something is done, and by whom. */
export const cause = { reason: about(text, "The reason to record."), ...actor };

/** The same request twice happens once. */
export const repeat = { idempotencyKey: about(text, "The same as the header `Idempotency-Key`.") };

/** A page of a list. */
export const page = {
  limit: about(whole, "The maximum number of items, up to 1,000. Defaults to 100."),
  after: about(id, "The id of the last item of the previous page."),
};

/** The last item of the page before, as `Pawl` expects it. */
export function after(last: string | undefined): { readonly id: string } | undefined {
  return last === undefined ? undefined : { id: last };
}
