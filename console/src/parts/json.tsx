import { useState } from "preact/hooks";
import { copy } from "../copy.ts";
import { Icon } from "./icon.tsx";
import { searchJson } from "./json-search.ts";

/** From here on, a value has a field to search in it. */
const longText = 2_000;
/** How many parts of a list or an object are drawn at once. */
const mostParts = 100;

/** Any JSON, as a tree that opens on demand, or raw; a long one scrolls, and can be searched. */
export function JsonView({ value, name }: { readonly value: unknown; readonly name: string }) {
  const [raw, setRaw] = useState(false);
  const [wanted, setWanted] = useState("");
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
        {text.length > longText && (
          <input
            type="search"
            class="json-search"
            aria-label={`Search in ${name}`}
            placeholder={`Search in ${Math.ceil(text.length / 1_024).toLocaleString("en")} KB`}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        <button type="button" class="bare" aria-label={`Copy ${name}`} onClick={() => void copy(text)}>
          <Icon name="copy" />
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section class="json-scroll" tabIndex={0} aria-label={`Content of ${name}`}>
        {wanted.trim() === "" ? (
          raw ? (
            <pre>{text}</pre>
          ) : (
            <Tree value={value} open />
          )
        ) : (
          <Found value={value} text={wanted} />
        )}
      </section>
    </div>
  );
}

/** Each value whose path or text contains what is searched. */
function Found({ value, text }: { readonly value: unknown; readonly text: string }) {
  const { found, more } = searchJson(value, text, mostParts);
  if (found.length === 0) return <p class="quiet">No results.</p>;
  return (
    <>
      {found.map((one) => (
        <div key={one.path} class="json-leaf">
          <span class="json-key">{one.path}: </span>
          {JSON.stringify(one.value)}
        </div>
      ))}
      {more && <p class="quiet">More than {mostParts} results. Search for more of the text.</p>}
    </>
  );
}

/** One value; of an object or a list its parts, once it is opened. */
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
  return <Branch label={key} brackets={brackets} parts={parts} open={open || parts.length <= 3} />;
}

interface BranchProps {
  readonly label: preact.VNode | null;
  readonly brackets: string;
  readonly parts: readonly (readonly [string, unknown])[];
  readonly open: boolean;
}

/** Parts that are not visible are not drawn: a list may have thousands. */
function Branch({ label, brackets, parts, open }: BranchProps) {
  const [isOpen, setOpen] = useState(open);
  const [most, setMost] = useState(mostParts);
  return (
    <details class="json-branch" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="quiet">
          {brackets[0]} {parts.length} {brackets[1]}
        </span>
      </summary>
      {isOpen && parts.slice(0, most).map(([name, part]) => <Tree key={name} label={name} value={part} />)}
      {isOpen && parts.length > most && (
        <button type="button" class="bare" onClick={() => setMost(most + mostParts)}>
          {parts.length - most} more
        </button>
      )}
    </details>
  );
}
