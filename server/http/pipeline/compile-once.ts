import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";

/** Compiles a schema at its first use: most routes of a process are not asked for soon after its start, or at all. */
export function compileOnce<S extends TSchema>(schema: S) {
  const compile = () => Compile(schema);
  let compiled: ReturnType<typeof compile> | null = null;
  return () => (compiled ??= compile());
}
