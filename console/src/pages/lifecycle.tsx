import { get, part } from "../api.ts";
import { useAsked } from "../asked.ts";
import { Trouble } from "../parts/trouble.tsx";

/** A lifecycle as a diagram. */
export function Lifecycle({ name }: { readonly name: string }) {
  const { answer, error } = useAsked(() => get<string>(`/lifecycles/${part(name)}/diagram`, { format: "svg" }), [name]);
  return (
    <section>
      <h1>{name}</h1>
      <Trouble error={error} />
      {answer !== undefined && <div class="diagram" dangerouslySetInnerHTML={{ __html: answer }} />}
    </section>
  );
}
