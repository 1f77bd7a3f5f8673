import type { buildSync } from "esbuild";

/** The oldest browsers of the pages, as targets of esbuild. */
export const browsers: string[];

/** Scripts and source maps of all pages and the client; `name` is the path below `server/web`. */
export function bundleScripts(
  esbuild: { buildSync: typeof buildSync },
  root: string,
): { name: string; contents: Uint8Array }[];
