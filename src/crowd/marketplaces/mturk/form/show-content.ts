import type { Json } from "../../../../base/json.ts";
import { html, type Markup } from "./markup.ts";

const picture = /^https:\/\/[^\s?#]+\.(?:png|jpe?g|gif|webp|svg)(?:[?#]\S*)?$/i;
const link = /^https?:\/\/\S+$/i;

/** What workers are shown: fields by their names, texts with their lines, pictures and links by their addresses. */
export function contentHtml(content: Json): Markup {
  if (content === null) return html``;
  if (typeof content === "string") return textHtml(content);
  if (typeof content !== "object") return html`<p>${String(content)}</p>`;
  if (isList(content)) return html`<ul>${content.map((one) => html`<li>${contentHtml(one)}</li>`)}</ul>`;
  const fields = Object.entries(content).map(([name, value]) => html`<dt>${name}</dt><dd>${contentHtml(value)}</dd>`);
  return html`<dl>${fields}</dl>`;
}

function textHtml(text: string): Markup {
  if (picture.test(text)) return html`<img src="${text}" alt="">`;
  if (link.test(text)) return html`<p><a href="${text}" target="_blank" rel="noopener noreferrer">${text}</a></p>`;
  return html`<p class="text">${text}</p>`;
}

/** `Array.isArray` does not know lists that cannot be written. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
