import type { ValidateFunction } from "ajv";

/** Compiles a JSON Schema to a validation function; the library is loaded on first use. */
export async function compileForm(form: object): Promise<ValidateFunction> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  // Invalid schemas were refused when the queue was created. A format is shown, not checked, as the dialect specifies.
  const checked = { validateSchema: false, meta: false, strict: false, logger: false } as const;
  return new Ajv2020({ ...checked, allErrors: true, validateFormats: false }).compile(form);
}
