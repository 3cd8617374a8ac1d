import { useState } from "preact/hooks";
import { copy } from "../copy.ts";
import { Icon } from "./icon.tsx";

/** Any JSON, as a tree that opens on demand, or raw. */
export function JsonView({ value, name }: { readonly value: unknown; readonly name: string }) {
  const [raw, setRaw] = useState(false);
  const text = JSON.stringify(value, undefined, 2) ?? "null";
  return (
    <div class="json">
      <div class="json-bar">
        <fieldset class="choice">
          <legend class="hidden">How {name} is shown</legend>
          <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
            Tree
          </button>
          <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
            Raw
          </button>
        </fieldset>
        <button type="button" class="bare" aria-label={`Copy ${name}`} onClick={() => void copy(text)}>
          <Icon name="copy" />
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      {raw ? <pre tabIndex={0}>{text}</pre> : <Tree value={value} open />}
    </div>
  );
}

/** One value; of an object or a list its parts, when it is opened. */
function Tree({ value, label, open = false }: { value: unknown; label?: string; open?: boolean }) {
  const key = label === undefined ? null : <span class="json-key">{label}: </span>;
  if (typeof value !== "object" || value === null) {
    return (
      <div class="json-leaf">
        {key}
        <span class={`json-${value === null ? "null" : typeof value}`}>{JSON.stringify(value) ?? "null"}</span>
      </div>
    );
  }
  const parts = Object.entries(value);
  const brackets = Array.isArray(value) ? "[]" : "{}";
  if (parts.length === 0) {
    return (
      <div class="json-leaf">
        {key}
        <span class="quiet">{brackets}</span>
      </div>
    );
  }
  return (
    <details class="json-branch" open={open || parts.length <= 3}>
      <summary>
        {key}
        <span class="quiet">
          {brackets[0]} {parts.length} {brackets[1]}
        </span>
      </summary>
      {parts.map(([name, part]) => (
        <Tree key={name} label={name} value={part} />
      ))}
    </details>
  );
}
