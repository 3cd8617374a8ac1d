import { about, id, text, whole } from "../api/schema.ts";

/** What many routes take: why something is done, beside whoever does it. */
export const cause = { reason: about(text, "Why; it is kept with what was done.") };

/** A page of a list. */
export const page = {
  limit: about(whole, "At most so many: 100 unless given, 1,000 at most."),
  after: about(id, "The id of the last one of the page before."),
};
