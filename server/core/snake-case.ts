/** Names that are remembered: those of a game come again and again. */
const maxKnown = 20_000;
const known = new Map<string, string>();

/** `MagicStuff` -> `magic_stuff`, `Gold Bangle2H` -> `gold_bangle2_h` */
export function snakeCase(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  const snake = text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  if (known.size >= maxKnown) known.clear();
  known.set(text, snake);
  return snake;
}
