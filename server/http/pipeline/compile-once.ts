import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";

/** Compiles a schema at its first use: most routes of a process get no request soon after its start, or none at all. */
export function compileOnce<S extends TSchema>(schema: S) {
  const compile = () => Compile(schema);
  let compiled: ReturnType<typeof compile> | null = null;
  return () => (compiled ??= compile());
}
