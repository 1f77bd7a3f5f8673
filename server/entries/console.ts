// Imported first: an outdated Node prints one sentence instead of a stack. Imports that need a newer Node
// follow it.
import "../node-version.mjs";

const { runConsole } = await import("../console/run.ts");
process.exit(await runConsole());
