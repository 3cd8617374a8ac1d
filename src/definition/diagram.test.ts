import { describe, expect, test } from "vitest";
import { z } from "zod";
import { diagram, diagramSvg } from "./diagram.ts";
import { lifecycle } from "./lifecycle.ts";
import { queue } from "./queue.ts";

const labels = queue("labels", { label: z.object({ ok: z.boolean() }) });

const claim = lifecycle("claim", {
  initial: "filed",
  states: {
    filed: {
      run: (step) => step.go("complete"),
      on: { complete: "parked", incomplete: "waiting", unreadable: "waiting" },
    },
    waiting: { timeout: { after: "14d", send: "expire" }, on: { sent: "filed", reminded: {}, expire: "rejected" } },
    parked: { release: { interval: "1m", limit: 10, send: "begin" }, on: { begin: "judged" } },
    judged: {
      ask: { queue: labels, sample: () => ({}) },
      on: { answered: [{ to: "paid", guard: ({ payload }) => payload.consensus.ok || "not ok" }, { to: "rejected" }] },
    },
    paid: { final: "success" },
    rejected: { final: "failure" },
    failed: { on: { refile: "filed" } },
  },
});

describe("R101 the state diagram can be exported", () => {
  test("for Mermaid", () => {
    expect(diagram(claim)).toBe(`stateDiagram-v2
  [*] --> filed
  filed --> parked: complete
  filed --> waiting: incomplete, unreadable
  waiting --> filed: sent
  waiting --> waiting: reminded (stays)
  waiting --> rejected: expire
  parked --> judged: begin
  judged --> paid: answered
  judged --> rejected: answered
  failed --> filed: refile
  paid --> [*]
  rejected --> [*]
`);
  });

  test("for Graphviz", () => {
    expect(diagram(claim, "dot")).toBe(`digraph "claim" {
  graph [fontname="Helvetica"];
  node [fontname="Helvetica", fontsize=11];
  edge [fontname="Helvetica", fontsize=9];
  "" [shape=circle, style=filled, fillcolor=black, label="", width=0.15];
  "filed" [shape=box];
  "waiting" [shape=box, style="rounded"];
  "parked" [shape=box, style="rounded,dashed"];
  "judged" [shape=hexagon];
  "paid" [shape=box, style="rounded", peripheries=2];
  "rejected" [shape=box, style="rounded", peripheries=2];
  "failed" [shape=box, style="rounded"];
  "" -> "filed";
  "filed" -> "parked" [label="complete"];
  "filed" -> "waiting" [label="incomplete\\nunreadable"];
  "waiting" -> "filed" [label="sent"];
  "waiting" -> "waiting" [label="reminded (stays)"];
  "waiting" -> "rejected" [label="expire"];
  "parked" -> "judged" [label="begin"];
  "judged" -> "paid" [label="answered"];
  "judged" -> "rejected" [label="answered"];
  "failed" -> "filed" [label="refile"];
}
`);
  });

  test("with what is built in, drawn faintly", () => {
    const small = lifecycle("small", {
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: { final: "success" } },
    });
    expect(diagram(small, "mermaid", { builtIns: true })).toBe(`stateDiagram-v2
  [*] --> a
  a --> b: x
  a --> failed: fail
  a --> discarded: discard
  b --> a: restart
  b --> discarded: discard
  failed --> a: recover, restart
  failed --> discarded: discard
  b --> [*]
  discarded --> [*]
`);
    expect(diagram(small, "dot", { builtIns: true })).toContain(
      '"failed" -> "a" [label="recover\\nrestart", style=dashed, color=gray60, fontcolor=gray60];',
    );
  });

  test("with names that Mermaid reads as its own words", () => {
    const odd = lifecycle("odd", {
      initial: "state",
      states: {
        state: { forever: true, on: { x: "end", y: "end_" } },
        end: { final: "success" },
        end_: { final: "failure" },
      },
    });
    expect(diagram(odd)).toBe(`stateDiagram-v2
  state "state" as state_
  state "end" as end__
  [*] --> state_
  state_ --> end__: x
  state_ --> end_: y
  end__ --> [*]
  end_ --> [*]
`);
  });

  test("in every format with every state and every edge, built-in ones too", async () => {
    const edges = claim.edges.map(({ from, to, event }) => ({ from, to: to ?? from, event }));
    const svg = await diagramSvg(claim, { builtIns: true });
    const lines = diagram(claim, "mermaid", { builtIns: true }).split("\n");
    const graph = diagram(claim, "dot", { builtIns: true }).split("\n");
    for (const { from, to, event } of edges) {
      const has = (line: string, start: string) => line.startsWith(start) && line.includes(event);
      expect(lines.some((line) => has(line, `  ${from} --> ${to}: `))).toBe(true);
      expect(graph.some((line) => has(line, `  "${from}" -> "${to}" [label="`))).toBe(true);
      expect(svg).toContain(`<title>${from}&#45;&gt;${to}</title>`);
    }
    for (const state of claim.states.keys()) {
      expect(graph.some((line) => line.startsWith(`  "${state}" [shape=`))).toBe(true);
      expect(svg).toContain(`>${state}</text>`);
    }
  });

  test("as a picture", async () => {
    const svg = await diagramSvg(claim);
    expect(svg).toContain("<svg");
    for (const name of ["filed", "judged", "unreadable", "refile"]) expect(svg).toContain(`>${name}</text>`);
  });
});
