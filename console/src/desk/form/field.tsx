import { useState } from "preact/hooks";
import { idAt } from "../keys/key-handler.ts";
import { FieldErrors, isWrong, valueAt } from "./field-errors.tsx";
import { FieldLabel, type FieldProps, titleOf } from "./field-label.tsx";
import type { FieldOf } from "./fields.ts";
import { blank, pointerOf } from "./form-values.ts";
import { Question } from "./question.tsx";

/** One field of the form, whichever kind it is. */
export function FieldView({ field, ...rest }: FieldProps) {
  switch (field.kind) {
    case "choice":
      return field.look === "list" ? <Chooser field={field} {...rest} /> : <Question field={field} {...rest} />;
    case "many":
      return <Question field={field} {...rest} />;
    case "number":
      return <NumberField field={field} {...rest} />;
    case "text":
    case "json":
      return <TextField field={field} {...rest} />;
    case "list":
      return <ListField field={field} {...rest} />;
    default:
      return <GroupField field={field} {...rest} />;
  }
}

function Line({ field, path, name, required, around, children }: FieldProps & { children: preact.ComponentChildren }) {
  const pointer = pointerOf(path);
  return (
    <div class={isWrong(around.labeling, path) ? "field wrong" : "field"}>
      <label for={idAt(pointer)}>
        <FieldLabel field={field} name={name} required={required} />
      </label>
      {field.description !== undefined && path.length > 0 && <p class="quiet">{field.description}</p>}
      {children}
      <FieldErrors labeling={around.labeling} path={path} />
    </div>
  );
}

function toldOf({ path, around }: FieldProps) {
  const pointer = pointerOf(path);
  return {
    id: idAt(pointer),
    "aria-describedby": idAt(pointer, "fault"),
    "aria-invalid": isWrong(around.labeling, path) ? ("true" as const) : undefined,
  };
}

/** The text is kept separately while it is typed: "1." may become 1.5. */
function NumberField(props: FieldProps<FieldOf<"number">>) {
  const { field, path, around } = props;
  const before = valueAt(around.labeling, path);
  const [text, setText] = useState(typeof before === "number" ? String(before) : "");
  const enter = (typed: string) => {
    setText(typed);
    around.labeling.set(path, typed.trim() === "" ? undefined : Number(typed));
  };
  return (
    <Line {...props}>
      <input
        {...toldOf(props)}
        type="number"
        inputMode={field.whole ? "numeric" : "decimal"}
        step={field.whole ? 1 : "any"}
        min={field.min}
        max={field.max}
        value={text}
        onInput={(event) => enter(event.currentTarget.value)}
      />
    </Line>
  );
}

function TextField(props: FieldProps<FieldOf<"text"> | FieldOf<"json">>) {
  const { field, path, around } = props;
  const value = valueAt(around.labeling, path);
  const shared = {
    ...toldOf(props),
    value: typeof value === "string" ? value : "",
    onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      around.labeling.set(path, event.currentTarget.value),
  };
  const isJson = field.kind === "json";
  return (
    <Line {...props}>
      {isJson || field.long ? (
        <textarea {...shared} class={isJson ? "code" : "prose"} rows={isJson ? 8 : 4} spellcheck={!isJson} dir="auto" />
      ) : (
        <input {...shared} type={field.format === "date" ? "date" : "text"} autocomplete="off" dir="auto" />
      )}
      {isJson && (
        <details class="schema">
          <summary>JSON Schema of the answer</summary>
          <pre>{JSON.stringify(field.schema, undefined, 2)}</pre>
        </details>
      )}
    </Line>
  );
}

/** Too many answers to show all of them at once. */
function Chooser(props: FieldProps<FieldOf<"choice">>) {
  const { field, path, around } = props;
  const index = field.options.findIndex(({ value }) => value === valueAt(around.labeling, path));
  return (
    <Line {...props}>
      <select
        {...toldOf(props)}
        value={String(index)}
        onChange={(event) => around.labeling.set(path, field.options[Number(event.currentTarget.value)]?.value)}
      >
        <option value="-1">Choose …</option>
        {field.options.map(({ title }, each) => (
          <option key={each} value={String(each)}>
            {title}
          </option>
        ))}
      </select>
    </Line>
  );
}

function GroupField({ field, path, name, required, around }: FieldProps<FieldOf<"group">>) {
  const entries = field.entries.map((entry) => (
    <FieldView
      key={entry.name}
      field={entry.field}
      path={[...path, entry.name]}
      name={entry.name}
      required={entry.required}
      around={around}
    />
  ));
  if (path.length === 0 || name === null) return <div class="group-bare">{entries}</div>;
  return (
    <fieldset class="group" id={idAt(pointerOf(path))}>
      <legend>
        <FieldLabel field={field} name={name} required={required} />
      </legend>
      {field.description !== undefined && <p class="quiet">{field.description}</p>}
      {entries}
      <FieldErrors labeling={around.labeling} path={path} />
    </fieldset>
  );
}

function ListField({ field, path, name, required, around }: FieldProps<FieldOf<"list">>) {
  // Items have no keys of their own: after one was removed, the others are rendered again.
  const [removed, setRemoved] = useState(0);
  const value = valueAt(around.labeling, path);
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const title = titleOf(field, name);
  const remove = (index: number) => {
    around.labeling.set(
      path,
      items.filter((_, each) => each !== index),
    );
    setRemoved(removed + 1);
  };
  return (
    <fieldset class="group" id={idAt(pointerOf(path))}>
      <legend>
        <FieldLabel field={field} name={name} required={required} />
      </legend>
      {field.description !== undefined && path.length > 0 && <p class="quiet">{field.description}</p>}
      {items.map((_, index) => (
        <div key={`${removed} ${index}`} class="item">
          <div class="item-head">
            <span class="quiet">{field.item.title ?? index + 1}</span>
            <button
              type="button"
              class="bare"
              aria-label={`Remove ${title} ${index + 1}`}
              onClick={() => remove(index)}
            >
              Remove
            </button>
          </div>
          <FieldView field={field.item} path={[...path, index]} name={null} required around={around} />
        </div>
      ))}
      <button
        type="button"
        disabled={items.length >= field.most}
        onClick={() => around.labeling.set(path, [...items, blank(field.item)])}
      >
        Add <span class="hidden">to {title}</span>
      </button>
      <FieldErrors labeling={around.labeling} path={path} />
    </fieldset>
  );
}
