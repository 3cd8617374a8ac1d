import { idAt } from "../keys/key-handler.ts";
import { type Bound, shownKey } from "../keys/keys.ts";
import { choose, FieldErrors, isWrong, valueAt } from "./field-errors.tsx";
import { FieldLabel, type FieldProps } from "./field-label.tsx";
import type { FieldOf } from "./fields.ts";
import { pointerOf } from "./form-values.ts";
import { digitOf } from "./groups.ts";

/** A question with its answers. Digits go to the one that has the focus, and the one after it when it is answered. */
export function Question(props: FieldProps<FieldOf<"choice"> | FieldOf<"many">>) {
  const { field, path, name, required, around } = props;
  const { labeling, press } = around;
  const pointer = pointerOf(path);
  const many = field.kind === "many";
  const value = valueAt(labeling, path);
  const isChosen = (one: unknown) => (many ? Array.isArray(value) && value.includes(one) : value === one);
  const activate = () => {
    press.active.value = pointer;
  };
  const canClear = !required && !many && value !== undefined;
  const look = field.kind === "choice" ? field.look : "rows";
  return (
    <fieldset
      id={idAt(pointer)}
      class={`question${isWrong(labeling, path) ? " wrong" : ""}`}
      aria-describedby={idAt(pointer, "fault")}
      onFocusIn={activate}
    >
      <legend>
        <FieldLabel field={field} name={name} required={required} />
        {many && <span class="quiet"> choose all that apply</span>}
      </legend>
      {field.description !== undefined && path.length > 0 && <p class="quiet">{field.description}</p>}
      <div class={`options ${look}${press.active.value === pointer ? " active" : ""}`}>
        {field.options.map((option, index) => {
          const digit = digitOf(field.options, index);
          return (
            <label key={index} class={isChosen(option.value) ? "option chosen" : "option"}>
              <input
                type={many ? "checkbox" : "radio"}
                name={idAt(pointer, "answer")}
                checked={isChosen(option.value)}
                onChange={() => choose(labeling, path, field.options, option, many)}
              />
              <span class="option-text">
                {option.title}
                {option.description !== undefined && <small class="quiet">{option.description}</small>}
              </span>
              {digit !== undefined && <kbd>{shownKey(press.keys.value[`choose ${digit}` as Bound])}</kbd>}
            </label>
          );
        })}
      </div>
      {canClear && (
        <button type="button" class="bare clear" onClick={() => labeling.set(path, undefined)}>
          Clear the answer
        </button>
      )}
      <FieldErrors labeling={labeling} path={path} />
    </fieldset>
  );
}
