import type { ComponentChildren } from "preact";

/** The facts about one thing, name by name; undefined ones are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? <span class="quiet">–</span>}</dd>
          </div>
        ))}
    </dl>
  );
}
