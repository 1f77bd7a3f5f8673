import type { buildSync } from "esbuild";

/** Scripts and source maps of all pages and the client; `name` is the path below `server/web`. */
export function bundleScripts(
  esbuild: { buildSync: typeof buildSync },
  root: string,
): { name: string; contents: Uint8Array }[];
