import type { Labeling } from "./labeling.ts";
import { countdown } from "./times.ts";

const soonMs = 60_000;

/** What is left of the time; pressed, it begins again. */
export function Countdown({ labeling }: { readonly labeling: Labeling }) {
  const { leftMs, phase, queue } = labeling;
  if (leftMs.value === undefined || (phase.value !== "working" && phase.value !== "sending")) return null;
  const isOver = leftMs.value <= 0;
  const text = isOver ? `${countdown(leftMs.value + (queue.value?.graceMs ?? 0))} of grace` : countdown(leftMs.value);
  return (
    <button
      type="button"
      class={`countdown number${leftMs.value < soonMs ? " soon" : ""}`}
      title="What is left for this one. Press to begin its time again; it also does by itself while you work."
      onClick={() => void labeling.extend()}
    >
      <span class="hidden">Time left, press for more: </span>
      <span role="timer">{text}</span>
    </button>
  );
}
