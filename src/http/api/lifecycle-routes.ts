import type { LifecycleAnswer } from "../contract.ts";
import type { Route } from "./route.ts";
import { flag, listOf, mapOf, oneOf, orNull, shape, text, type Wire, whole } from "./schema.ts";

const state = shape<Wire<LifecycleAnswer["states"][number]>>({
  name: text,
  kind: text,
  final: orNull(oneOf("success", "failure", "discarded")),
  instances: whole,
});

const lifecycle = shape<Wire<LifecycleAnswer>>({ name: text, version: whole, initial: text, states: listOf(state) });

export const lifecycleRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/lifecycles",
    verb: "lifecycles",
    may: "look",
    tag: "Lifecycles",
    summary: "The lifecycles that this process declares, with how many instances stand in each state.",
    answers: listOf(lifecycle),
  },
  {
    method: "get",
    path: "/lifecycles/{lifecycle}/counts",
    verb: "counts",
    may: "look",
    tag: "Lifecycles",
    summary: "How many instances stand in each state.",
    answers: mapOf(whole),
  },
  {
    method: "get",
    path: "/lifecycles/{lifecycle}/diagram",
    verb: "diagram",
    may: "look",
    tag: "Lifecycles",
    summary: "The lifecycle as a drawing, or as the source of one.",
    takes: { format: oneOf("svg", "mermaid", "dot"), builtIns: flag },
    answers: text,
  },
];
