import { useEffect, useState } from "preact/hooks";
import { countIn, isInternal, lifecycleNamed, lifecycles } from "../../lifecycles.ts";
import { Menu } from "../../parts/menu.tsx";
import { count } from "../../parts/tile.tsx";
import "./instances.css";

export interface InstanceFiltersProps {
  readonly lifecycle: string;
  readonly filters: URLSearchParams;
  readonly onChange: (changes: Readonly<Record<string, string | readonly string[]>>) => void;
}

const ages = ["10m", "1h", "6h", "1d", "7d", "30d"] as const;
/** The reasons that Pawl itself gives; a lifecycle may have others. */
const reasons = ["attempts_used_up", "permanent_error", "lease_exhausted", "deadline", "timeout", "child_failed"];

/** The filters: lifecycle, states, start of the key, reason of the failure, age, and the last move. */
export function InstanceFilters({ lifecycle, filters, onChange }: InstanceFiltersProps) {
  const states = filters.getAll("state");
  const known = lifecycleNamed(lifecycle);
  const turn = (state: string, isOn: boolean) =>
    onChange({ state: isOn ? [...states, state] : states.filter((one) => one !== state) });
  return (
    <div class="filters">
      <select
        aria-label="Of the lifecycle"
        value={lifecycle}
        onChange={(event) => onChange({ lifecycle: event.currentTarget.value, state: [] })}
      >
        {lifecycles.value.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
        {isInternal(lifecycle) && <option key={lifecycle}>{lifecycle}</option>}
      </select>
      <Menu label={states.length === 0 ? "Any state" : `${states.length} of its states`} name="States" stays>
        <fieldset class="columns states">
          <legend class="hidden">States</legend>
          {known?.states.map(({ name }) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={states.includes(name)}
                onChange={(event) => turn(name, event.currentTarget.checked)}
              />
              <span class="grow">{name}</span>
              <span class="quiet number">{count(countIn(known, name))}</span>
            </label>
          ))}
        </fieldset>
      </Menu>
      <TypedFilter
        name="Key or id"
        placeholder="Start of the key, or id"
        value={filters.get("key") ?? ""}
        onChange={(key) => onChange({ key })}
      />
      <TypedFilter
        name="Reason of the failure"
        placeholder="Any failure"
        value={filters.get("failure") ?? ""}
        known={reasons}
        onChange={(failure) => onChange({ failure })}
      />
      <AgeFilter name="Started" filters={filters} parameter="olderThan" onChange={onChange} />
      <AgeFilter name="Not moved" filters={filters} parameter="idleFor" onChange={onChange} />
      {filters.get("parent") !== null && (
        <button type="button" class="chip" onClick={() => onChange({ parent: "" })} aria-label="Without the parent">
          child of …{filters.get("parent")!.slice(-8)} ×
        </button>
      )}
      {states.map((state) => (
        <button
          key={state}
          type="button"
          class="chip"
          onClick={() => turn(state, false)}
          aria-label={`Without ${state}`}
        >
          {state} ×
        </button>
      ))}
    </div>
  );
}

interface TypedFilterProps {
  readonly name: string;
  readonly placeholder: string;
  readonly value: string;
  /** Offered while typing. */
  readonly known?: readonly string[];
  readonly onChange: (value: string) => void;
}

/** A text that is applied when the typing pauses. */
function TypedFilter({ name, placeholder, value, known, onChange }: TypedFilterProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => onChange(typed), 300);
    return () => clearTimeout(timer);
  }, [typed]);
  const list = known && `known-${name.replaceAll(" ", "-")}`;
  return (
    <>
      <input
        type="search"
        aria-label={name}
        placeholder={placeholder}
        value={typed}
        list={list}
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {known && (
        <datalist id={list}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface AgeFilterProps extends Pick<InstanceFiltersProps, "filters" | "onChange"> {
  readonly name: string;
  readonly parameter: "olderThan" | "idleFor";
}

function AgeFilter({ name, filters, parameter, onChange }: AgeFilterProps) {
  const value = filters.get(parameter) ?? "";
  const choices = ages.includes(value as never) || value === "" ? ages : [value, ...ages];
  return (
    <select aria-label={name} value={value} onChange={(event) => onChange({ [parameter]: event.currentTarget.value })}>
      <option value="">{name} at any time</option>
      {choices.map((age) => (
        <option key={age} value={age}>
          {parameter === "olderThan" ? `${name} over ${age} ago` : `${name} for ${age}`}
        </option>
      ))}
    </select>
  );
}
