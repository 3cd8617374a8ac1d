import { PawlError } from "../base/errors.ts";

/** The result of a call, or the reason of its refusal. Errors that the caller cannot fix are thrown. */
export async function orRefusal<Result>(
  call: () => Promise<Result>,
): Promise<Result | { readonly ok: false; readonly error: PawlError }> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PawlError && error.fault === "request") return { ok: false, error };
    throw error;
  }
}
