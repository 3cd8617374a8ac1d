import { signal } from "@preact/signals";
import type { SessionResponse } from "../../src/http/contract.ts";
import { Refused, read, write } from "./api.ts";

/** The signed-in principal: undefined until it is known, null if there is none. */
export const session = signal<SessionResponse | null | undefined>(undefined);

export async function findSession(): Promise<void> {
  try {
    session.value = await read<SessionResponse>("/session");
  } catch (error) {
    if (error instanceof Refused && error.signedOut) session.value = null;
    else throw error;
  }
}

export async function signIn(token: string): Promise<void> {
  session.value = await write<SessionResponse>("POST", "/session", { token });
}

export async function signOut(): Promise<void> {
  await write("DELETE", "/session");
  session.value = null;
}

/** Whether the principal has this right; what is not allowed is not shown. */
export function may(permission: SessionResponse["may"][number]): boolean {
  return session.value?.may.includes(permission) ?? false;
}
