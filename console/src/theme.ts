import { effect } from "@preact/signals";
import { following, kept } from "./kept.ts";

const themes = ["system", "light", "dark"] as const;

/** Light, dark, or whichever the system is. */
export const theme = kept("theme", themes);

effect(() => {
  const chosen = theme.value;
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
});

export function turnTheme(): void {
  theme.value = following(themes, theme.value);
}
