import { readXml } from "../../../../base/xml.ts";

/** The values of one name. */
export interface GivenAnswer {
  readonly name: string;
  /** The text; undefined if an option was selected. */
  readonly text: string | undefined;
  readonly selected: readonly string[];
}

const root = "QuestionFormAnswers";
const typed = ["FreeText", "UploadedFileKey"];
const selected = ["SelectionIdentifier", "OtherSelectionText"];

/** Reads QuestionFormAnswers, strictly: undefined for anything else. */
export function readAnswers(xml: string): readonly GivenAnswer[] | undefined {
  const document = readXml(xml);
  if (document?.name !== root) return undefined;
  const answers = document.inside.filter(({ name }) => name === "Answer");
  return answers.map(({ inside }) => ({
    name: inside.find(({ name }) => name === "QuestionIdentifier")?.text ?? "",
    text: inside.find(({ name }) => typed.includes(name))?.text,
    selected: inside.filter(({ name }) => selected.includes(name)).map(({ text }) => text),
  }));
}
