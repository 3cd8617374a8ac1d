import type { EdgeModel, LifecycleModel, StateKind, StateModel } from "./model.ts";

export interface DiagramOptions {
  /** Also draws `fail`, `recover`, `restart` and `discard`, which nearly every state has. */
  readonly builtIns?: boolean;
  /** Of these, also draws those that lead from one state to another, as in `"open failed"`. */
  readonly ways?: readonly string[];
}

/**
 * The states and edges of a lifecycle as a text that Mermaid (as GitHub shows it) or Graphviz draws.
 *
 * ```ts
 * console.log(diagram(essay)); // stateDiagram-v2 …
 * console.log(diagram(essay, "dot", { builtIns: true }));
 * ```
 */
export function diagram(
  lifecycle: LifecycleModel,
  format: "mermaid" | "dot" = "mermaid",
  options: DiagramOptions = {},
): string {
  const drawing = drawingOf(lifecycle, options);
  return format === "dot" ? dot(lifecycle, drawing) : mermaid(lifecycle, drawing);
}

/** The same as a picture: an SVG text, laid out by Graphviz. */
export async function diagramSvg(lifecycle: LifecycleModel, options: DiagramOptions = {}): Promise<string> {
  // Loaded on first use: it is some megabytes that a worker never needs.
  const { instance } = await import("@viz-js/viz");
  const graphviz = await instance();
  return graphviz.renderString(diagram(lifecycle, "dot", options), { format: "svg" });
}

/** One arrow: all events that lead the same way. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly labels: string[];
  readonly builtIn: boolean;
}

interface Drawing {
  readonly states: readonly StateModel[];
  readonly arrows: readonly Arrow[];
}

function drawingOf(lifecycle: LifecycleModel, options: DiagramOptions): Drawing {
  const ways = new Set(options.ways);
  const isDrawn = ({ builtIn, from, to }: EdgeModel) =>
    options.builtIns || !builtIn || ways.has(`${from} ${to ?? from}`);
  const edges = lifecycle.edges.filter(isDrawn);
  const touched = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
  const states = [...lifecycle.states.values()].filter((state) => !state.builtIn || touched.has(state.name));
  const arrows = new Map<string, Arrow>();
  for (const edge of edges) {
    const { from, builtIn } = edge;
    const to = edge.to ?? from;
    const way = `${from} ${to} ${builtIn}`;
    const arrow = arrows.get(way) ?? { from, to, labels: [], builtIn };
    if (!arrow.labels.includes(labelOf(edge))) arrow.labels.push(labelOf(edge));
    arrows.set(way, arrow);
  }
  return { states, arrows: [...arrows.values()] };
}

function labelOf(edge: EdgeModel): string {
  return edge.to === null ? `${edge.event} (stays)` : edge.event;
}

/** Words that Mermaid reads as its own at the start of a line. */
const mermaidWords = new Set(
  "accdescr acctitle as class classdef click default direction end fork hide href join note scale state style".split(
    " ",
  ),
);

function mermaid(lifecycle: LifecycleModel, { states, arrows }: Drawing): string {
  const id = (name: string) => (mermaidWords.has(name) ? freeId(name, lifecycle.states) : name);
  const aliases = states.filter((state) => mermaidWords.has(state.name));
  return lines([
    "stateDiagram-v2",
    ...aliases.map((state) => `  state "${state.name}" as ${id(state.name)}`),
    `  [*] --> ${id(lifecycle.initial)}`,
    ...arrows.map((arrow) => `  ${id(arrow.from)} --> ${id(arrow.to)}: ${arrow.labels.join(", ")}`),
    ...states.filter((state) => state.final !== undefined).map((state) => `  ${id(state.name)} --> [*]`),
  ]);
}

function freeId(name: string, taken: ReadonlyMap<string, unknown>): string {
  let id = `${name}_`;
  while (taken.has(id)) id += "_";
  return id;
}

const looks: Record<StateKind, string> = {
  work: "shape=box",
  wait: 'shape=box, style="rounded"',
  ask: "shape=hexagon",
  park: 'shape=box, style="rounded,dashed"',
  join: "shape=invtrapezium",
  end: 'shape=box, style="rounded", peripheries=2',
};

function dot(lifecycle: LifecycleModel, { states, arrows }: Drawing): string {
  return lines([
    `digraph "${lifecycle.name}" {`,
    '  graph [fontname="Helvetica"];',
    '  node [fontname="Helvetica", fontsize=11];',
    '  edge [fontname="Helvetica", fontsize=9];',
    '  "" [shape=circle, style=filled, fillcolor=black, label="", width=0.15];',
    ...states.map((state) => `  "${state.name}" [${looks[state.kind]}];`),
    `  "" -> "${lifecycle.initial}";`,
    ...arrows.map(
      (arrow) => `  "${arrow.from}" -> "${arrow.to}" [label="${arrow.labels.join("\\n")}"${faint(arrow)}];`,
    ),
    "}",
  ]);
}

function faint(arrow: Arrow): string {
  return arrow.builtIn ? ", style=dashed, color=gray60, fontcolor=gray60" : "";
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
