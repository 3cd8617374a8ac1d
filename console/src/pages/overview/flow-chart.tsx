import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { RateSample } from "../../../../src/http/contract.ts";
import { rates } from "../../live.ts";
import { isDark } from "../../preferences/theme.ts";
import { columnsOf } from "./flow-columns.ts";

const height = 220;
const maxSeconds = 15 * 60;
const leastSeconds = 2 * 60;

/** Ended and failed instances, stacked, and started ones, over the last quarter of an hour. */
export function FlowChart() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current!;
    let chart: uPlot | undefined;
    const size = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height }));
    size.observe(element);
    // Colours are drawn into the canvas, so another theme is another chart.
    const unthemed = effect(() => {
      void isDark.value;
      chart?.destroy();
      chart = new uPlot(optionsFor(element), columnsOf(rates.peek()) as uPlot.AlignedData, element);
    });
    const ended = effect(() => chart?.setData(columnsOf(rates.value) as uPlot.AlignedData));
    return () => {
      ended();
      unthemed();
      size.disconnect();
      chart?.destroy();
    };
  }, []);
  const last = rates.value.at(-1);
  const summary = last === undefined ? "no data yet" : spoken(last);
  return (
    <>
      <div ref={box} class="chart" role="img" aria-label={`Flow per minute: ${summary}`} />
      {last === undefined && <p class="quiet chart-none">The chart collects data while a page like this is open.</p>}
    </>
  );
}

function spoken({ started, done, failed }: RateSample): string {
  return `${Math.round(started)} started, ${Math.round(done)} done, ${Math.round(failed)} failed`;
}

/** A quarter of an hour, and less while less is known. */
function leftEdge(first: number, last: number): number {
  return Math.max(last - maxSeconds, Math.min(first, last - leastSeconds));
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element);
  // `light-dark()` is settled only where it is used as a colour.
  const colour = (name: string) => {
    element.style.color = `var(${name})`;
    const found = style.color;
    element.style.color = "";
    return found;
  };
  const [good, bad, info, quiet, line] = ["--good", "--bad", "--info", "--quiet", "--line"].map(colour) as string[];
  const faint = (name: string) => name.replace(/^rgb\((.*)\)$/, "rgba($1, 0.28)");
  const axis = { stroke: quiet!, grid: { stroke: line!, width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  const round = (_: uPlot, value: number | null) => (value === null ? "–" : String(Math.round(value * 10) / 10));
  return {
    width: Math.max(200, element.clientWidth),
    height,
    cursor: { points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (_, first, last) => [leftEdge(first, last), last] },
      y: { range: (_, __, most) => [0, Math.max(10, most * 1.15)] },
    },
    axes: [
      { ...axis, values: (_, at) => at.map((second) => new Date(second * 1_000).toTimeString().slice(0, 5)) },
      { ...axis, size: 40 },
    ],
    // Failed is filled down to done only, so that no colour lies on another.
    bands: [{ series: [1, 2] }],
    series: [
      { value: (_, at) => (at === null ? "–" : new Date(at * 1_000).toTimeString().slice(0, 8)) },
      {
        label: "failed",
        stroke: bad!,
        fill: faint(bad!),
        width: 1,
        points: { show: false },
        value: (chart, ended, _, at) =>
          at === null || ended === null ? "–" : round(chart, ended - (chart.data[2]![at] ?? 0)),
      },
      { label: "done", stroke: good!, fill: faint(good!), width: 1.5, points: { show: false }, value: round },
      { label: "started", stroke: info!, width: 1.5, dash: [4, 3], points: { show: false }, value: round },
    ],
  };
}
