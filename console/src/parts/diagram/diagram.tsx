import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { StateResponse } from "../../../../src/http/contract.ts";
import { type DrawnNode, fitNames, readDrawing } from "./drawing.ts";
import "./diagram.css";

export interface DiagramProps {
  /** As the API draws it. */
  readonly svg: string;
  readonly states: readonly StateResponse[];
  /** The number of instances in a state; read again whenever a signal in it changes. Without it no counts are shown. */
  readonly countOf?: ((state: string) => number) | undefined;
  /** Called when a state is pressed; without it states cannot be pressed. */
  readonly onChoose?: ((state: string) => void) | undefined;
  readonly chosen?: string | undefined;
  /** The visited states, and the current one. */
  readonly walked?: { readonly states: ReadonlySet<string>; readonly ways: ReadonlySet<string>; readonly at: string };
}

/** A lifecycle as the API draws it, in the colours of the page, with what happens in it. */
export function Diagram({ svg, states, countOf, onChoose, chosen, walked }: DiagramProps) {
  const box = useRef<HTMLElement>(null);
  const nodes = useRef<ReadonlyMap<string, DrawnNode>>(new Map());
  const choose = useRef(onChoose);
  choose.current = onChoose;
  const canChoose = onChoose !== undefined;
  const [zoom, setZoom] = useState(1);
  useEffect(() => {
    const drawing = readDrawing(svg);
    box.current!.replaceChildren(drawing.svg);
    fitNames(drawing);
    nodes.current = drawing.nodes;
    for (const state of states) {
      const node = drawing.nodes.get(state.name);
      node?.group.classList.add(...looksOf(state));
      if (canChoose) node?.makeButton(() => choose.current?.(state.name));
    }
  }, [svg, states, canChoose]);
  useEffect(() => {
    box.current!.style.setProperty("--zoom", String(Math.round(zoom * 100)));
    box.current!.classList.toggle("zoomed", zoom > 1);
  }, [zoom]);
  useEffect(() => {
    if (countOf === undefined) return undefined;
    return effect(() => {
      for (const [name, node] of nodes.current) node.count(countOf(name));
    });
  }, [svg, states, countOf]);
  useEffect(() => {
    for (const [name, { group }] of nodes.current) group.classList.toggle("chosen", name === chosen);
  }, [svg, chosen]);
  useEffect(() => {
    if (walked === undefined) return;
    for (const [name, { group }] of nodes.current) {
      group.classList.toggle("walked", walked.states.has(name));
      group.classList.toggle("stands", walked.at === name);
    }
    for (const edge of box.current!.querySelectorAll<SVGGElement>("g.edge")) {
      edge.classList.toggle("walked", walked.ways.has(edge.dataset.way ?? ""));
    }
  }, [svg, walked]);
  return (
    <div class="diagram-box">
      <fieldset class="choice diagram-zoom">
        <legend class="hidden">Size of the diagram</legend>
        <button type="button" aria-label="Smaller" disabled={zoom === 1} onClick={() => setZoom(zoom / 1.5)}>
          −
        </button>
        <button type="button" aria-label="Larger" disabled={zoom > 4} onClick={() => setZoom(zoom * 1.5)}>
          +
        </button>
      </fieldset>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section class={walked === undefined ? "diagram" : "diagram walk"} ref={box} tabIndex={0} aria-label="Diagram" />
    </div>
  );
}

/** The colour of a state: by its outcome, the one it asks, or its kind. */
function looksOf({ kind, final, asks, name }: StateResponse): string[] {
  if (final !== null) return ["end", final];
  if (name === "failed") return ["failure"];
  return asks === null ? [kind] : ["ask", asks.whom];
}
