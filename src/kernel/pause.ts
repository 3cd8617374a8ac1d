/** Waits. Loops of the kernel pause here between tries; nothing that decides ever looks at this clock. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
