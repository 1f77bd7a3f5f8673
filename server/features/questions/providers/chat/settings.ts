import type { Config } from "../../../../platform/config/config.ts";

/** Selectable model names; the first one is the default (TRV-04). */
export function modelsOf({
  GENERATOR_MODELS,
}: Pick<Config, "GENERATOR_MODELS">): [string, ...string[]] {
  const [first = "", ...rest] = GENERATOR_MODELS.split(",").map((name) => name.trim());
  return [first, ...rest];
}

/** Prices of a million tokens by model, as `small=0.15/0.6,large=3/15` gives them. */
export function pricesOf({
  GENERATOR_PRICES,
}: Pick<Config, "GENERATOR_PRICES">): Map<string, { input: number; output: number }> {
  const entries = GENERATOR_PRICES.split(",").flatMap((line) => {
    // A model name may contain a slash.
    const [, model, input, output] = /^(.+)=([^=/]+)\/([^=/]+)$/.exec(line.trim()) ?? [];
    if (model === undefined) return [];
    return [[model, { input: Number(input), output: Number(output) }] as const];
  });
  return new Map(entries);
}
