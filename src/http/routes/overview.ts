import { routesOf } from "../api/route.ts";
import { about, flag, id, listOf, moment, named, number, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import { lifecycleNamed } from "../api/targets.ts";
import type { OverviewAnswer, StuckAnswer } from "../contract.ts";
import { instance } from "./answers/instance-answer.ts";

const need = shape<OverviewAnswer["needs"][number]>({
  what: oneOf("stuck", "breakers", "dead_letters", "workers", "lanes", "schedules", "outbox", "alerts", "waiting"),
  level: oneOf("bad", "warn"),
  text,
  page: about(text, "The page of the console that tells more."),
});

const overview = shape<OverviewAnswer>({
  at: moment,
  inFlight: whole,
  done: whole,
  failed: about(whole, "Ended in a failure, or failed and not recovered yet."),
  discarded: whole,
  deadLetters: whole,
  oldestReadyMs: about(orNull(number), "How long the longest waiting task has been ready."),
  openBreakers: whole,
  peopleWaiting: about(whole, "Samples that wait in queues."),
  workers: shape<OverviewAnswer["workers"]>({ alive: whole, silent: whole }),
  outbox: shape<OverviewAnswer["outbox"]>({ pending: whole, dead: whole, oldestMs: orNull(number) }),
  needs: listOf(need),
});

const stuck = named(
  "Stuck",
  shape<StuckAnswer>({
    reason: oneOf(
      "no_worker",
      "worker_outdated",
      "ready_too_long",
      "overdue",
      "dead_letter",
      "release_refused",
      "event_refused",
      "result_unmatched",
      "unassignable",
      "queue_inactive",
      "definition_fault",
    ),
    lifecycle: text,
    lane: about(orNull(text), "The lane of the tasks that wait; null where no task does."),
    state: about(orNull(text), "The state of the instances; null for after-effects and deliveries."),
    queue: about(orNull(text), "The queue of the samples that wait; null where none do."),
    count: about(whole, "Not counted beyond 10,000."),
    more: about(flag, "Whether there may be more than were counted."),
    since: about(moment, "Since when the first of them is stuck."),
    sentence: about(text, "What waits, why, and what to do."),
    instances: about(
      listOf(
        shape<StuckAnswer["instances"][number]>({ id, lifecycle: text, key: orNull(text), state: text, since: moment }),
      ),
      "Those that have waited longest.",
    ),
  }),
);

const { get } = routesOf("Instances");

export const overviewRoutes = [
  routesOf("Lifecycles").get("overview", "/overview", "look", {
    summary: "How everything stands, in a few numbers, and what somebody should look at.",
    answer: overview,
    call: (pawl) => pawl.inspect.overview(),
  }),
  get("stuck", "/stuck", "look", {
    summary: "All instances that are stuck, grouped by the reason and the place, with what to do.",
    takes: { limit: about(whole, "How many instances of each group are listed; 10 unless given.") },
    answer: listOf(stuck),
    call: (pawl, { limit }) => pawl.inspect.stuck({ limit }),
  }),
  get("oldest", "/lifecycles/{lifecycle}/states/{state}/oldest", "look", {
    summary: "Of the instances that stand in a state, those that were started first.",
    takes: { limit: whole },
    answer: listOf(instance),
    call: (pawl, { lifecycle, state, limit }) => pawl.inspect.oldest(lifecycleNamed(pawl, lifecycle), state, { limit }),
  }),
  get("search", "/search", "look", {
    summary: "The instance that has this id, or those of all lifecycles whose key begins so.",
    takes: { text, limit: whole },
    needs: ["text"],
    answer: listOf(instance),
    call: (pawl, { text, limit }) => pawl.inspect.search(text, { limit }),
  }),
];
