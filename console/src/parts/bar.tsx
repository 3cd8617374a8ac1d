export interface BarProps {
  /** The accessible name. */
  readonly name: string;
  readonly value: number;
  readonly of: number;
  readonly tone?: "good" | "warn" | "bad" | "info" | undefined;
}

/** A part of a whole, as a bar. */
export function Bar({ name, value, of, tone = "info" }: BarProps) {
  const most = Math.max(of, 1);
  return <progress class={`bar ${tone}`} aria-label={name} value={Math.min(value, most)} max={most} />;
}
