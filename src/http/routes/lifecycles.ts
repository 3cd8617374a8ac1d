import { diagram, diagramSvg } from "../../definition/diagram.ts";
import { routesOf } from "../api/route.ts";
import { about, flag, listOf, mapOf, named, oneOf, orNull, shape, text, type Wire, whole } from "../api/schema.ts";
import { lifecycleNamed } from "../api/targets.ts";
import type { LifecycleResponse, StateResponse } from "../contract.ts";
import { lifecyclesOf } from "./responses/lifecycle-response.ts";

const state = named(
  "State",
  shape<Wire<StateResponse>>({
    name: text,
    kind: oneOf("work", "wait", "ask", "park", "join", "end"),
    final: orNull(oneOf("success", "failure", "discarded")),
    instances: whole,
    asks: orNull(shape<NonNullable<StateResponse["asks"]>>({ whom: oneOf("people", "crowd"), name: text })),
    lane: about(orNull(text), "The lane of its steps, by the name used to pause and resume it."),
    timeouts: listOf(
      shape<StateResponse["timeouts"][number]>({
        after: about(orNull(text), "Null if it depends on the data."),
        send: text,
      }),
    ),
    maxAttempts: about(orNull(whole), "Its retry policy; null for the default."),
    uses: about(orNull(text), "The breaker that it uses."),
    limit: orNull(whole),
    rate: orNull(text),
    checkpoint: orNull(text),
    events: about(listOf(text), "Events that an instance in this state accepts."),
  }),
);

const lifecycle = named(
  "Lifecycle",
  shape<Wire<LifecycleResponse>>({ name: text, version: whole, initial: text, job: flag, states: listOf(state) }),
);

const { get } = routesOf("Lifecycles");

export const lifecycleRoutes = [
  get("lifecycles", "/lifecycles", "read", {
    summary: "List the lifecycles that this process registers, with instance counts by state.",
    takes: { internal: about(flag, "Include Pawl's internal lifecycles: samples, assignments, and crowd jobs.") },
    answer: listOf(lifecycle),
    call: (pawl, { internal }) => lifecyclesOf(pawl, internal === true),
  }),
  get("counts", "/lifecycles/{lifecycle}/counts", "read", {
    summary: "Get the instance counts by state.",
    answer: mapOf(whole),
    call: (pawl, { lifecycle }) => pawl.inspect.counts(lifecycleNamed(pawl, lifecycle)),
  }),
  get("diagram", "/lifecycles/{lifecycle}/diagram", "read", {
    summary: "Get the diagram of a lifecycle as SVG, Mermaid or DOT.",
    takes: {
      format: oneOf("svg", "mermaid", "dot"),
      builtIns: about(flag, "Also draws `fail`, `recover`, `restart` and `discard`, which nearly every state has."),
      way: about(listOf(text), "Of these, draws those that lead from one state to another, such as `open failed`."),
    },
    answer: text,
    call: (pawl, { lifecycle: name, format = "mermaid", builtIns, way }) => {
      const lifecycle = lifecycleNamed(pawl, name);
      return format === "svg"
        ? diagramSvg(lifecycle, { builtIns, ways: way })
        : diagram(lifecycle, format, { builtIns, ways: way });
    },
  }),
];
