import type { TObject } from "typebox";
import { readForm } from "./body.ts";

const wholeNumber = /^-?\d{1,15}$/;

/**
 * The fields of a form of a page as a body. They are texts: an empty field that may be missing is left out, and a whole
 * number becomes one where the schema wants it.
 */
export function readPageForm(
  bytes: Uint8Array | null,
  schema: TObject | undefined,
): Record<string, unknown> {
  const required = new Set<string>(schema?.required ?? []);
  const types = (schema?.properties ?? {}) as Record<string, { type?: unknown }>;
  const fields = [...readForm(bytes)].filter(([name, text]) => text !== "" || required.has(name));
  return Object.fromEntries(
    fields.map(([name, text]) => {
      const type = Object.hasOwn(types, name) ? types[name]?.type : undefined;
      return [name, type === "integer" && wholeNumber.test(text) ? Number(text) : text];
    }),
  );
}
