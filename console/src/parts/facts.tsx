import type { ComponentChildren } from "preact";

/** What is known of one thing, name by name; what is undefined is left out. */
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
