const faults: ReadonlySet<string> = new Set([
  "kill",
  "stop",
  "outage",
  "clock",
  "jump",
  "lost request",
  "lost reply",
  "killed before",
  "killed after",
  "slow",
  "odd hooks",
  "poisoned code",
]);

/** Whether what a run notes is something that went wrong, in its surroundings or in user code. */
export function isFault(feature: string): boolean {
  return faults.has(feature) || feature.startsWith("point: ") || feature.startsWith("user code: ");
}
