import { computed, signal } from "@preact/signals";
import { nextChoice, storedChoice } from "./stored-choice.ts";

const modes = ["relative", "local", "utc"] as const;

/** How moments are written on all pages. */
export const timeMode = storedChoice("times", modes);

export function turnTimes(): void {
  timeMode.value = nextChoice(modes, timeMode.value);
}

const second = signal(Date.now());
setInterval(() => {
  if (!document.hidden) second.value = Date.now();
}, 1_000);

/** The current time, for relative times; updated once a second, only while it is used. */
export const now = computed(() => second.value);

/** Such as `3 min ago`, `in 2 h`, `just now`: the largest unit is enough. */
export function relative(ms: number, toMs: number): string {
  const apart = toMs - ms;
  if (Math.abs(apart) < 1_500) return "just now";
  const [far] = /^\d+ \w+/.exec(length(Math.abs(apart)))!;
  return apart > 0 ? `${far} ago` : `in ${far}`;
}

const units: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A length of time in its two largest units: `2 h 5 min`, `41 s`, `12 ms`. */
export function length(ms: number): string {
  const at = units.findIndex(([unit]) => ms >= unit);
  if (at === -1) return `${Math.round(ms)} ms`;
  const [unit, name] = units[at]!;
  const whole = Math.floor(ms / unit);
  const [smaller, smallName] = units[at + 1] ?? [1, ""];
  const rest = Math.floor((ms - whole * unit) / smaller);
  return smallName === "" || rest === 0 || whole >= 10 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smallName}`;
}

/** A time left as a clock that counts down: `0:41`, `2:05:00`, `3 d 4 h`. */
export function countdown(ms: number): string {
  if (ms >= 86_400_000) return length(ms);
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (number: number) => String(number).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `2026-01-31 12:00:05` in this place's time. */
export function local(ms: number): string {
  const at = new Date(ms);
  return utc(ms - at.getTimezoneOffset() * 60_000).slice(0, 19);
}

/** `2026-01-31 12:00:05 UTC`. */
export function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
