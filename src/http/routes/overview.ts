import { routesOf } from "../api/route.ts";
import { about, listOf, moment, number, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import type { OverviewAnswer } from "../contract.ts";
import { instance } from "./instance-answer.ts";
import { lifecycleNamed } from "./targets.ts";

const need = shape<OverviewAnswer["needs"][number]>({
  what: oneOf("breakers", "dead_letters", "timers", "workers", "lanes", "schedules", "outbox", "waiting"),
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

const { get } = routesOf("Instances");

export const overviewRoutes = [
  routesOf("Lifecycles").get("overview", "/overview", "look", {
    summary: "How everything stands, in a few numbers, and what somebody should look at.",
    answer: overview,
    call: (pawl) => pawl.inspect.overview(),
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
