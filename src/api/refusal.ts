import { PawlError } from "../base/errors.ts";

/** What a call comes to, or why it was refused. What is not the caller's to mend is thrown. */
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
