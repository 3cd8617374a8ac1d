import type { ValidateFunction } from "ajv";

/** The function that validates labels against a JSON Schema; the library is loaded when the first one is compiled. */
export async function compileForm(form: object): Promise<ValidateFunction> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  // What is no JSON Schema was refused when the queue was made. A format is shown, not checked, as the dialect has it.
  const checked = { validateSchema: false, meta: false, strict: false, logger: false } as const;
  return new Ajv2020({ ...checked, allErrors: true, validateFormats: false }).compile(form);
}
