import type { Route } from "../api/route.ts";
import { about, listOf, moment, number, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import type { OverviewAnswer } from "../contract.ts";
import { instance } from "./instance-answer.ts";

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

export const overviewRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/overview",
    verb: "overview",
    may: "look",
    tag: "Lifecycles",
    summary: "How everything stands, in a few numbers, and what somebody should look at.",
    answers: overview,
  },
  {
    method: "get",
    path: "/lifecycles/{lifecycle}/states/{state}/oldest",
    verb: "oldest",
    may: "look",
    tag: "Instances",
    summary: "Of the instances that stand in a state, those that were started first.",
    takes: { limit: whole },
    answers: listOf(instance),
  },
  {
    method: "get",
    path: "/search",
    verb: "search",
    may: "look",
    tag: "Instances",
    summary: "The instance that has this id, or those of all lifecycles whose key begins so.",
    takes: { text, limit: whole },
    needs: ["text"],
    answers: listOf(instance),
  },
];
