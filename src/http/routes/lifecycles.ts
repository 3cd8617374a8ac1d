import { diagram, diagramSvg } from "../../definition/diagram.ts";
import { routesOf } from "../api/route.ts";
import { about, flag, listOf, mapOf, named, oneOf, orNull, shape, text, type Wire, whole } from "../api/schema.ts";
import { lifecycleNamed } from "../api/targets.ts";
import type { LifecycleAnswer, StateAnswer } from "../contract.ts";
import { lifecyclesOf } from "./answers/lifecycle-answer.ts";

const state = named(
  "State",
  shape<Wire<StateAnswer>>({
    name: text,
    kind: oneOf("work", "wait", "ask", "park", "join", "end"),
    final: orNull(oneOf("success", "failure", "discarded")),
    instances: whole,
    asks: orNull(shape<NonNullable<StateAnswer["asks"]>>({ whom: oneOf("people", "crowd"), name: text })),
    lane: about(orNull(text), "The lane of its work, as it is paused and resumed."),
    timeouts: listOf(
      shape<StateAnswer["timeouts"][number]>({
        after: about(orNull(text), "Null where it depends on the data."),
        send: text,
      }),
    ),
    maxAttempts: about(orNull(whole), "All attempts of its work; null where the standard holds."),
    uses: about(orNull(text), "Its breaker."),
    limit: orNull(whole),
    rate: orNull(text),
    checkpoint: orNull(text),
    events: about(listOf(text), "What may be sent to an instance that stands in it."),
  }),
);

const lifecycle = named(
  "Lifecycle",
  shape<Wire<LifecycleAnswer>>({ name: text, version: whole, initial: text, job: flag, states: listOf(state) }),
);

const { get } = routesOf("Lifecycles");

export const lifecycleRoutes = [
  get("lifecycles", "/lifecycles", "look", {
    summary: "The lifecycles that this process declares, with how many instances stand in each state.",
    takes: { internal: about(flag, "Also Pawl's own lifecycles: samples, assignments, and what crowds are asked.") },
    answer: listOf(lifecycle),
    call: (pawl, { internal }) => lifecyclesOf(pawl, internal === true),
  }),
  get("counts", "/lifecycles/{lifecycle}/counts", "look", {
    summary: "How many instances stand in each state.",
    answer: mapOf(whole),
    call: (pawl, { lifecycle }) => pawl.inspect.counts(lifecycleNamed(pawl, lifecycle)),
  }),
  get("diagram", "/lifecycles/{lifecycle}/diagram", "look", {
    summary: "The lifecycle as a drawing, or as the source of one.",
    takes: { format: oneOf("svg", "mermaid", "dot"), builtIns: flag },
    answer: text,
    call: (pawl, { lifecycle: name, format = "mermaid", builtIns }) => {
      const lifecycle = lifecycleNamed(pawl, name);
      return format === "svg" ? diagramSvg(lifecycle, { builtIns }) : diagram(lifecycle, format, { builtIns });
    },
  }),
];
