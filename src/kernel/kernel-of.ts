import type { Kernel } from "./kernel.ts";

/** Kept apart from the object, so that nothing internal can be seen on it. */
const kernels = new WeakMap<object, Kernel>();

export function keepKernel(pawl: object, kernel: Kernel): void {
  kernels.set(pawl, kernel);
}

/** The kernel of a Pawl, for the rest of the package; undefined for an object that only has some of a Pawl's methods. */
export function kernelOf(pawl: object): Kernel | undefined {
  return kernels.get(pawl);
}
