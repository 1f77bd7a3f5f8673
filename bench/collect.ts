type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/**
 * Frees what is garbage and gives its pages back, as the engine does by itself on an idle machine. Needs
 * `--expose-gc`.
 */
export function collectGarbage(): void {
  const collect = globalThis.gc as Collect | undefined;
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
