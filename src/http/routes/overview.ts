import { routesOf } from "../api/route.ts";
import { about, flag, id, listOf, moment, named, number, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import { lifecycleNamed } from "../api/targets.ts";
import type { OverviewResponse, StuckResponse } from "../contract.ts";
import { instance } from "./responses/instance-response.ts";

const need = shape<OverviewResponse["needs"][number]>({
  what: oneOf("stuck", "breakers", "dead_letters", "workers", "lanes", "schedules", "outbox", "alerts", "waiting"),
  level: oneOf("bad", "warn"),
  text,
  page: about(text, "The page of the console with details."),
});

const overview = shape<OverviewResponse>({
  at: moment,
  inFlight: whole,
  done: whole,
  failed: about(whole, "Ended in failure, or failed and not yet recovered."),
  discarded: whole,
  deadLetters: whole,
  oldestReadyMs: about(orNull(number), "How long the oldest ready task has waited."),
  openBreakers: whole,
  peopleWaiting: about(whole, "Samples that wait in queues."),
  workers: shape<OverviewResponse["workers"]>({ alive: whole, silent: whole }),
  outbox: shape<OverviewResponse["outbox"]>({ pending: whole, dead: whole, oldestMs: orNull(number) }),
  needs: listOf(need),
});

const stuck = named(
  "Stuck",
  shape<StuckResponse>({
    reason: oneOf(
      "no_worker",
      "worker_outdated",
      "state_undeclared",
      "ready_too_long",
      "running_too_long",
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
    lane: about(orNull(text), "The lane of the waiting tasks; null if no task waits."),
    state: about(orNull(text), "The state of the instances; null for `after` functions and deliveries."),
    queue: about(orNull(text), "The queue of the waiting samples; null if none wait."),
    count: about(whole, "At most 10,000 are counted."),
    more: about(flag, "Whether there may be more than the count."),
    since: about(moment, "Since when the oldest of them is stuck."),
    sentence: about(text, "What waits, why, and what to do."),
    instances: about(
      listOf(
        shape<StuckResponse["instances"][number]>({
          id,
          lifecycle: text,
          key: orNull(text),
          state: text,
          since: moment,
        }),
      ),
      "The oldest of them.",
    ),
  }),
);

const { get } = routesOf("Instances");

export const overviewRoutes = [
  routesOf("Lifecycles").get("overview", "/overview", "read", {
    summary: "Get the key figures and what needs attention.",
    answer: overview,
    call: (pawl) => pawl.inspect.overview(),
  }),
  get("stuck", "/stuck", "read", {
    summary: "List stuck instances by reason and place, with remedies.",
    takes: { limit: about(whole, "The number of instances listed per group. Defaults to 10.") },
    answer: listOf(stuck),
    call: (pawl, { limit }) => pawl.inspect.stuck({ limit }),
  }),
  get("oldest", "/lifecycles/{lifecycle}/states/{state}/oldest", "read", {
    summary: "List the oldest instances of a state.",
    takes: { limit: whole },
    answer: listOf(instance),
    call: (pawl, { lifecycle, state, limit }) => pawl.inspect.oldest(lifecycleNamed(pawl, lifecycle), state, { limit }),
  }),
  get("search", "/search", "read", {
    summary: "Find the instance with this id, or instances of all lifecycles whose key starts with it.",
    takes: { text, limit: whole },
    needs: ["text"],
    answer: listOf(instance),
    call: (pawl, { text, limit }) => pawl.inspect.search(text, { limit }),
  }),
];
