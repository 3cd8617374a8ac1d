import { computed, effect, signal } from "@preact/signals";
import { nextChoice, storedChoice } from "./stored-choice.ts";

const themes = ["system", "light", "dark"] as const;

/** Light, dark, or whichever the system is. */
export const theme = storedChoice("theme", themes);

const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
system.addEventListener("change", () => {
  systemIsDark.value = system.matches;
});

/** Whether the page is dark now, for what a style sheet cannot express. */
export const isDark = computed(() => theme.value === "dark" || (theme.value === "system" && systemIsDark.value));

effect(() => {
  const chosen = theme.value;
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
});

export function turnTheme(): void {
  theme.value = nextChoice(themes, theme.value);
}
