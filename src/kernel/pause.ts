/** Waits between tries. Not `node:timers/promises`: tests replace `setTimeout` to run loops in virtual time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
