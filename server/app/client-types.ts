import { writeFileSync } from "node:fs";
import { generatedFiles } from "./generated-types.ts";

/** `npm run client:types`: writes the types of the OpenAPI document into the client and for the pages. */
for (const { path, make } of generatedFiles) writeFileSync(path, await make());
