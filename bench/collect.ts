type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** Collects garbage and returns its pages, as the engine does on an idle machine. Needs `--expose-gc`. */
export function collectGarbage(): void {
  const collect = globalThis.gc as Collect | undefined;
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
