import type { Json } from "../../../../base/json.ts";
import type { Field, Group, Input } from "./form-fields.ts";
import { type Kind, writeName } from "./input-names.ts";
import { html, type Markup } from "./markup.ts";

/** More choices than this are a list to pick from. */
const maxRadios = 7;

export function fieldHtml(field: Field): Markup {
  if (field.shows === "group") return groupHtml(field);
  const { title, help, otherwise, path } = field;
  const notes = html`${help !== "" && html`<small>${help}</small>`}${otherwise !== undefined && elseHtml(path, otherwise)}`;
  if (field.shows === "checkbox") {
    return html`<p><label>${controlHtml(field)} ${title}</label>${notes}</p>`;
  }
  if (field.shows === "choices" || isRadios(field)) {
    return html`<fieldset><legend>${title}</legend>${notes}${controlHtml(field)}</fieldset>`;
  }
  return html`<p><label>${title}${notes}${controlHtml(field)}</label></p>`;
}

function groupHtml({ path, title, help, fields }: Group): Markup {
  const inside = html`${elseHtml(path, {})}${help !== "" && html`<small>${help}</small>`}${fields.map(fieldHtml)}`;
  return path.length === 0 ? inside : html`<fieldset><legend>${title}</legend>${inside}</fieldset>`;
}

/** The value of a part for which the browser sends nothing, such as an unchecked box. */
function elseHtml(path: readonly string[], value: Json): Markup {
  return html`<input type="hidden" name="${writeName({ path, kind: "else" })}" value="${JSON.stringify(value)}">`;
}

function isRadios({ shows, choices }: Input): boolean {
  return shows === "choice" && choices.length <= maxRadios;
}

function controlHtml(field: Input): Markup {
  const { path, kind, choices, schema } = field;
  const name = writeName({ path, kind });
  const must = field.required && field.otherwise === undefined && html` required`;
  switch (field.shows) {
    case "checkbox":
      return html`<input type="checkbox" name="${name}" value="true">`;
    case "choices":
      return html`${choices.map((choice, index) =>
        boxHtml("checkbox", writeName({ path: [...path, String(index)], kind }), choice, kind, false),
      )}`;
    case "choice":
      if (isRadios(field)) return html`${choices.map((choice) => boxHtml("radio", name, choice, kind, must))}`;
      return html`<select name="${name}"${must}><option value=""></option>${choices.map(
        (choice) => html`<option value="${postedFor(choice, kind)}">${shown(choice)}</option>`,
      )}</select>`;
    case "number":
      return html`<input type="number" name="${name}" step="${schema.type === "integer" ? 1 : "any"}"${boundsHtml(schema)}${must}>`;
    case "lines":
      return html`<textarea name="${name}" rows="4" placeholder="One on each line"></textarea>`;
    default:
      return html`<textarea name="${name}" rows="${kind === "json" ? 6 : 2}"${lengthHtml(schema)}${must}></textarea>`;
  }
}

function boxHtml(type: "radio" | "checkbox", name: string, choice: Json, kind: Kind, must: Markup | false): Markup {
  const box = html`<input type="${type}" name="${name}" value="${postedFor(choice, kind)}"${must}>`;
  return html`<label>${box} ${shown(choice)}</label>`;
}

function postedFor(choice: Json, kind: Kind): string {
  return kind === "json" ? JSON.stringify(choice) : String(choice);
}

function shown(choice: Json): string {
  return typeof choice === "string" ? choice : JSON.stringify(choice);
}

function boundsHtml({ minimum, maximum }: Input["schema"]): Markup {
  return html`${isBound(minimum) && html` min="${minimum}"`}${isBound(maximum) && html` max="${maximum}"`}`;
}

/** A limit such as "any safe integer", which libraries generate, is not shown. */
function isBound(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}

function lengthHtml({ maxLength, minLength }: Input["schema"]): Markup {
  return html`${isBound(minLength) && html` minlength="${minLength}"`}${isBound(maxLength) && html` maxlength="${maxLength}"`}`;
}
