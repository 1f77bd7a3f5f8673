import type { AssetReference, AssetRole } from "./contract.ts";

/** Path or hash that a reference names, and its role; `name` is null for both or neither. */
export function readReference(reference: AssetReference): {
  name: string | null;
  role: AssetRole | null;
} {
  if (typeof reference === "string") return { name: reference, role: null };
  const { hash, path } = reference;
  const name = hash !== undefined && path !== undefined ? null : (hash ?? path ?? null);
  return { name, role: reference.role ?? null };
}
