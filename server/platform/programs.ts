import { asset } from "./assets.ts";

/** A file for Node, and the flags it needs. */
export interface Program {
  file: string;
  flags: readonly string[];
}

/** The sources run under tsx, in tests and `npm run dev`. */
const isBuilt = import.meta.filename.endsWith(".js");

/** A program of `server/entries/`, run like this process: from the build or from the sources. */
export const program = (name: string): Program =>
  isBuilt
    ? { file: asset(`${name}.js`), flags: ["--enable-source-maps"] }
    : {
        file: asset(`server/entries/${name}.ts`),
        flags: ["--import", import.meta.resolve("tsx")],
      };
