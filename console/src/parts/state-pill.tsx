export type Tone = "good" | "bad" | "warn" | "info" | "plain";

export interface StatePillProps {
  readonly state: string;
  /** How it ended, for a state that ends. */
  readonly outcome?: string | null | undefined;
  readonly tone?: Tone | undefined;
}

/** A state in the colour of its category: success, failure, or open. */
export function StatePill({ state, outcome, tone = toneOf(state, outcome) }: StatePillProps) {
  return <span class={`pill ${tone}`}>{state}</span>;
}

function toneOf(state: string, outcome: string | null | undefined): Tone {
  if (outcome === "success") return "good";
  if (outcome === "failure" || state === "failed") return "bad";
  if (outcome === "discarded") return "plain";
  return "info";
}
