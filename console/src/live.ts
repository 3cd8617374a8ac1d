import { computed, effect, signal } from "@preact/signals";
import type { LiveCounts, LiveInstance, RateSample } from "../../src/http/contract.ts";
import { apiUrl } from "./api.ts";
import { away, probe } from "./connection.ts";

/** Instance counts by lifecycle and state; nothing for a lifecycle without any yet. */
export const counts = signal<ReadonlyMap<string, ReadonlyMap<string, number>>>(new Map());

/** The instances that started, ended and failed in the last quarter of an hour, oldest first. */
export const rates = signal<readonly RateSample[]>([]);

/** The user has paused the stream, to read. */
export const paused = signal(false);

const connected = signal(false);

/** Whether the page is up to date. */
export const liveness = computed(() =>
  paused.value ? "paused" : connected.value && away.value === undefined ? "live" : "waiting",
);

const hidden = signal(document.hidden);
document.addEventListener("visibilitychange", () => {
  hidden.value = document.hidden;
});

const watched = signal<string | undefined>(undefined);
let onMoved: ((instance: LiveInstance) => void) | undefined;

/** Calls back whenever this instance has moved. A page watches one at a time; returns a function that ends that. */
export function watchInstance(id: string, moved: (instance: LiveInstance) => void): () => void {
  watched.value = id;
  onMoved = moved;
  return () => {
    if (onMoved !== moved) return;
    watched.value = undefined;
    onMoved = undefined;
  };
}

const maxSamples = 180;
const againMs = 5_000;

/** Keeps one stream open while the page is visible and not paused. Returns a function that ends that. */
export function goLive(): () => void {
  const retry = signal(0);
  return effect(() => {
    void retry.value;
    if (paused.value || hidden.value) return undefined;
    const source = new EventSource(apiUrl("/live", { instance: watched.value }));
    let timer: ReturnType<typeof setTimeout> | undefined;
    source.addEventListener("open", () => {
      connected.value = true;
    });
    source.addEventListener("error", () => {
      connected.value = false;
      void probe();
      // A browser reconnects by itself after a cut, but not after a refusal.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(() => (retry.value += 1), againMs);
    });
    listen<LiveCounts>(source, "counts", (message) => {
      counts.value = merged(counts.value, message);
    });
    listen<readonly RateSample[]>(source, "rates", (message) => {
      const from = message[0]?.at ?? "";
      rates.value = [...rates.value.filter((sample) => sample.at < from), ...message].slice(-maxSamples);
    });
    listen<LiveInstance>(source, "instance", (message) => onMoved?.(message));
    return () => {
      clearTimeout(timer);
      source.close();
      connected.value = false;
    };
  });
}

function listen<Said>(source: EventSource, event: string, onMessage: (message: Said) => void): void {
  source.addEventListener(event, ({ data }) => onMessage(JSON.parse(data as string) as Said));
}

/** The counts with the changes. */
function merged(
  before: ReadonlyMap<string, ReadonlyMap<string, number>>,
  message: LiveCounts,
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const after = new Map(before);
  for (const [lifecycle, states] of Object.entries(message)) {
    after.set(lifecycle, new Map([...(before.get(lifecycle) ?? []), ...Object.entries(states)]));
  }
  return after;
}
