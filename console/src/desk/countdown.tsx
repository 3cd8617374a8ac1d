import type { Labeling } from "./labeling.ts";
import { countdown } from "./times.ts";

const soonMs = 60_000;

/** The remaining time; a click extends it. */
export function Countdown({ labeling }: { readonly labeling: Labeling }) {
  const { leftMs, phase, queue } = labeling;
  if (leftMs.value === undefined || (phase.value !== "working" && phase.value !== "sending")) return null;
  const isOver = leftMs.value <= 0;
  const text = isOver
    ? `${countdown(leftMs.value + (queue.value?.graceMs ?? 0))} of extra time`
    : countdown(leftMs.value);
  return (
    <button
      type="button"
      class={`countdown number${leftMs.value < soonMs ? " soon" : ""}`}
      title="Time left for this sample. Press to extend it; it is extended automatically while you work."
      onClick={() => void labeling.extend()}
    >
      <span class="hidden">Time left, press to extend: </span>
      <span role="timer">{text}</span>
    </button>
  );
}
