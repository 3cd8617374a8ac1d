import { Link } from "wouter-preact";
import type { LifecycleAnswer } from "../../../src/http/contract.ts";
import { get } from "../api.ts";
import { useAsked } from "../asked.ts";
import { Trouble } from "../parts/trouble.tsx";

export function Overview() {
  const { answer, error } = useAsked(() => get<LifecycleAnswer[]>("/lifecycles"), []);
  return (
    <section>
      <h1>Overview</h1>
      <Trouble error={error} />
      <ul class="cards">
        {answer?.map(({ name, version, states }) => (
          <li key={name}>
            <Link href={`/lifecycles/${name}`}>{name}</Link>
            <span class="quiet"> version {version}</span>
            <b> {states.reduce((sum, state) => sum + state.instances, 0)}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}
