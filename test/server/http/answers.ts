/** The parts of an error response that tests read. */
export interface ErrorEntry {
  code: string;
  message: string;
  params?: Record<string, unknown>;
}

interface Flash {
  errors: ErrorEntry[];
  violations?: { propertyPath: string; title: string }[];
}

const flashOf = (answer: { json: unknown }): Flash => {
  const { flash } = (answer.json ?? {}) as { flash?: Flash };
  if (!flash) throw new Error(`no flash in ${JSON.stringify(answer.json)}`);
  return flash;
};

export function errorOf(answer: { json: unknown }): ErrorEntry {
  const [first] = flashOf(answer).errors;
  if (!first) throw new Error("flash.errors is empty");
  return first;
}

export const codeOf = (answer: { json: unknown }): string => errorOf(answer).code;

/** Paths of the violations, sorted. */
export const violationsOf = (answer: { json: unknown }): string[] =>
  (flashOf(answer).violations ?? []).map((one) => one.propertyPath).sort();
