import type { Json } from "../../../../base/json.ts";
import type { AnyCrowd } from "../../../../definition/crowd.ts";
import type { JsonSchema } from "../../../../definition/schema/json-schema.ts";
import { fieldsOf } from "./form-fields.ts";
import { fieldHtml } from "./form-html.ts";
import { html, Markup } from "./markup.ts";
import { contentHtml } from "./show-content.ts";

/** The data of a page. */
export interface QuestionParts {
  /** What workers are shown. */
  readonly content: Json;
  /** The JSON Schema of the worker's input. */
  readonly form: JsonSchema;
  readonly crowd: AnyCrowd;
}

/** As much as the service takes, in bytes. */
export const maxQuestionBytes = 65_535;

const schema = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd";

const style = new Markup(`body{font:16px/1.5 system-ui,sans-serif;margin:1rem auto;max-width:48rem;padding:0 1rem}
img{max-width:100%}.text{white-space:pre-wrap}dt{font-weight:600}dd{margin:0 0 .5rem}
fieldset{border:1px solid #bbb;margin:0 0 1rem}fieldset label{display:block}small{display:block;color:#555}
textarea,select,input[type=number]{box-sizing:border-box;display:block;font:inherit;width:100%}
button{font:inherit;padding:.5rem 1.5rem}`);

/** The frame's URL has the assignment and the address to submit to; a preview has nothing to submit. */
const script = new Markup(`(function(){var q=new URLSearchParams(location.search),a=q.get("assignmentId"),
t=q.get("turkSubmitTo"),f=document.forms[0];f.elements.assignmentId.value=a||"";
if(t&&/^https:\\/\\/([a-z0-9-]+\\.)*mturk\\.com(\\/|$)/.test(t))f.action=t.replace(/\\/$/,"")+"/mturk/externalSubmit";
if(!a||a==="ASSIGNMENT_ID_NOT_AVAILABLE"){var b=f.querySelector("button");b.disabled=true;
b.textContent="Accept the task to begin"}})()`);

/** A page of its own with a form, as an HTMLQuestion. Nothing is fetched for it but the pictures of the content. */
export function htmlQuestion({ content, form, crowd }: QuestionParts, submitTo: string): string {
  const page = html`<!DOCTYPE html><html><head><meta charset="utf-8"><title>${crowd.title}</title><style>${style}</style></head><body>
<h1>${crowd.title}</h1>${crowd.description !== "" && html`<p class="text">${crowd.description}</p>`}
${contentHtml(content)}
<form method="post" action="${submitTo}/mturk/externalSubmit"><input type="hidden" name="assignmentId" value="">
${fieldHtml(fieldsOf(form))}
<button type="submit">Submit</button></form><script>${script}</script></body></html>`;
  return `<HTMLQuestion xmlns="${schema}"><HTMLContent>${cdata(page.text)}</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>`;
}

/** Why a form cannot be shown, for any content. */
export function checkForm(crowd: AnyCrowd): readonly string[] {
  const bytes = Buffer.byteLength(htmlQuestion({ content: null, form: crowd.form, crowd }, ""));
  if (bytes <= maxQuestionBytes) return [];
  const why = `\`label\` makes a page of ${bytes} bytes; Mechanical Turk accepts ${maxQuestionBytes}`;
  return [`${why}. Use fewer fields, or pass your own \`question\` to mturk().`];
}

/** Removes characters that XML forbids. The content cannot end the element: every `>` in a page is escaped. */
function cdata(text: string): string {
  const held = text.toWellFormed().replace(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, "");
  return `<![CDATA[${held}]]>`;
}
