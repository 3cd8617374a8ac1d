import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf, Refused } from "./api.ts";
import { away, recoveries } from "./connection.ts";
import { session } from "./session.ts";

/** A request to the server: its last answer, and its last error. */
export interface Requested<Answer> {
  readonly answer: Answer | undefined;
  readonly error: string | undefined;
  /** Sends it again, and keeps the old answer until the new one comes. */
  readonly again: () => Promise<void>;
}

/**
 * Sends a request to the server, and again whenever a dependency changes or Pawl responds again. An answer that was overtaken by a later
 * request is dropped; the old one stays on the page until the new one is there.
 */
export function useRequest<Answer>(ask: () => Promise<Answer>, dependsOn: readonly unknown[]): Requested<Answer> {
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<string>();
  const turn = useRef(0);
  const again = async () => {
    const mine = ++turn.current;
    try {
      const got = await ask();
      if (mine !== turn.current) return;
      setAnswer(() => got);
      setError(undefined);
    } catch (thrown) {
      if (mine !== turn.current) return;
      if (thrown instanceof Refused && thrown.signedOut) session.value = null;
      // The banner says so, and what is on the page stays there until the request is sent again.
      if (away.value === undefined) setError(messageOf(thrown));
    }
  };
  useEffect(() => {
    void again();
    return () => {
      turn.current += 1;
    };
  }, [...dependsOn, recoveries.value]);
  return { answer, error, again };
}
