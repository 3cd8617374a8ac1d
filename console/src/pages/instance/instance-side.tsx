import { Link } from "wouter-preact";
import { get } from "../../api.ts";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { useRequest } from "../../use-request.ts";

interface Of {
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

const callbackTones = {
  applied: "good",
  accepted: "good",
  waiting: "info",
  kept: "warn",
  rejected: "bad",
  refused: "bad",
} as const;

export function Callbacks({ path, version }: Of) {
  const { answer } = useRequest(() => get(`${path}/callbacks`), [path, version]);
  if (answer === undefined || answer.length === 0) return null;
  return (
    <section class="panel">
      <h2>Callbacks</h2>
      <ul class="short-list">
        {answer.map(({ id, event, status, receivedAt, late, reason }) => (
          <li key={id}>
            <span>
              <b>{event}</b> {late && <span class="warning">late</span>} <span class="quiet">{reason}</span>
            </span>
            <span>
              <StatePill state={status} tone={callbackTones[status]} />{" "}
              <span class="quiet">
                <Time at={receivedAt} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
