import { Link } from "wouter-preact";
import { get } from "../../api.ts";
import { StatePill } from "../../parts/state-pill.tsx";
import { useRequest } from "../../use-request.ts";

export interface Of {
  /** Of the instance. */
  readonly path: `/instances/${string}`;
  /** Reloaded when the instance has moved. */
  readonly version: number;
}

export function Children({ path, version }: Of) {
  const { answer } = useRequest(() => get(`${path}/children`, { limit: 20 }), [path, version]);
  if (answer === undefined || answer.total === 0) return null;
  const { total, open, succeeded, failed, discarded, first } = answer;
  return (
    <section class="panel">
      <h2>Children</h2>
      <p class="quiet">
        {total}: {open} open, {succeeded} succeeded, {failed} failed, {discarded} discarded
      </p>
      <ul class="short-list">
        {first.map((child) => (
          <li key={child.id}>
            <Link href={`/instances/${child.id}`}>{child.key ?? child.id}</Link>
            <StatePill state={child.state} outcome={child.outcome} />
          </li>
        ))}
      </ul>
    </section>
  );
}
