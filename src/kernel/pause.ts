/** Waits. Loops of the kernel pause here between tries; no decision uses this clock. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
