import type { Kernel } from "../kernel/kernel.ts";

/** Those whose process is shutting down: a load balancer must send it no new requests. */
const draining = new WeakSet<Kernel>();

export function markDraining(kernel: Kernel): void {
  draining.add(kernel);
}

export function isDraining(kernel: Kernel): boolean {
  return draining.has(kernel);
}
