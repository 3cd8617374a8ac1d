import { useState } from "preact/hooks";
import type { DeskWorkResponse } from "../../../../src/http/contract.ts";
import { JsonView } from "../json.tsx";
import { isLead, type Part, partsOf } from "./content.ts";
import "./sample.css";

type Kind<Name extends Part["kind"]> = Extract<Part, { readonly kind: Name }>;

/** The sample. Texts that belong together are side by side, small facts in a list. */
export function Sample({ sample }: { readonly sample: Pick<DeskWorkResponse["sample"], "data"> }) {
  const parts = partsOf(sample.data);
  const facts = parts.filter((part): part is Kind<"fact"> => part.kind === "fact");
  // A sample that is only a few words is displayed as a text.
  if (parts.length === 1 && facts.length === 1) return <Shown part={{ ...facts[0]!, kind: "text" }} alone />;
  const read = parts.filter(({ kind }) => kind !== "fact" && kind !== "json");
  const trees = parts.filter(({ kind }) => kind === "json");
  const pairs = read.filter(({ kind, name }) => (kind === "text" || kind === "image") && !isLead(name));
  return (
    <div class="parts">
      {pairs.length >= 2 && pairs.length <= 4 ? (
        <>
          <Each parts={read.filter((part) => !pairs.includes(part) && isLead(part.name))} />
          <div class="side-by-side">
            <Each parts={pairs} />
          </div>
          <Each parts={read.filter((part) => !pairs.includes(part) && !isLead(part.name))} />
        </>
      ) : (
        <Each parts={read} alone={read.length === 1} />
      )}
      {facts.length > 0 && (
        <dl class="sample-facts">
          {facts.map(({ name, value }, index) => (
            <div key={index}>
              <dt>{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <Each parts={trees} alone={parts.length === 1} />
      {parts.length === 0 && <p class="quiet">This sample is empty.</p>}
    </div>
  );
}

function Each({ parts, alone = false }: { readonly parts: readonly Part[]; readonly alone?: boolean }) {
  return parts.map((part, index) => <Shown key={index} part={part} alone={alone} />);
}

/** One part with its name; alone it needs none. */
function Shown({ part, alone }: { readonly part: Part; readonly alone: boolean }) {
  return (
    <figure class={`part ${part.kind}`}>
      {!alone && part.name !== null && <figcaption>{part.name}</figcaption>}
      <Body part={part} />
    </figure>
  );
}

function Body({ part }: { readonly part: Part }) {
  const name = part.name ?? "Sample";
  switch (part.kind) {
    case "image":
      return <Picture url={part.value} name={name} />;
    case "audio":
      // biome-ignore lint/a11y/useMediaCaption: samples have no captions.
      return <audio controls preload="metadata" src={part.value} aria-label={name} />;
    case "video":
      // biome-ignore lint/a11y/useMediaCaption: samples have no captions.
      return <video controls preload="metadata" src={part.value} aria-label={name} />;
    case "link":
      return (
        <a href={part.value} target="_blank" rel="noreferrer noopener">
          {part.value}
        </a>
      );
    case "talk":
      return (
        <ol class="talk">
          {part.turns.map(({ who, text }, index) => (
            <li key={index}>
              <b>{who}</b>
              <div class="plain talk-text" dir="auto">
                {text}
              </div>
            </li>
          ))}
        </ol>
      );
    case "json":
      return <JsonView value={part.value} name={name} />;
    default:
      return (
        <div class="plain part-text" dir="auto">
          {part.value}
        </div>
      );
  }
}

/** A picture that fits, or in its full size. */
function Picture({ url, name }: { readonly url: string; readonly name: string }) {
  const [isLarge, setLarge] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (isBroken)
    return (
      <p class="error">
        Could not load the picture: <a href={url}>{url.slice(0, 100)}</a>
      </p>
    );
  return (
    <button
      type="button"
      class={isLarge ? "picture large" : "picture"}
      aria-pressed={isLarge}
      aria-label={`${name}, full size`}
      onClick={() => setLarge(!isLarge)}
    >
      <img src={url} alt={name} onError={() => setBroken(true)} />
    </button>
  );
}
