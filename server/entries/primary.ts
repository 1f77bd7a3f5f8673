// Imported first: an outdated Node prints one sentence instead of a stack. Imports that need a newer Node
// follow it.
import "../node-version.mjs";

// A closed pipe (`npm start | head`) must not end the service.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
const { runService } = await import("../runtime/boot/run-service.ts");
process.exit(await runService());
