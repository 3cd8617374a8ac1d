import type { DeadLetterResponse } from "../../../../src/http/contract.ts";
import { Id } from "../../parts/id.tsx";

/** The instance that a letter is about, and the way to it. */
export function InstanceLink({ letter }: { readonly letter: DeadLetterResponse }) {
  if (letter.instance === null) return <span class="quiet">{letter.lifecycle}</span>;
  return (
    <span>
      {letter.lifecycle} {letter.key !== null && <b>{letter.key} </b>}
      <Id id={letter.instance} href={`/instances/${letter.instance}`} />
    </span>
  );
}

export function errorOf({ error, reason }: DeadLetterResponse): string {
  return error === null ? reason : `${error.name}: ${error.message}`;
}
