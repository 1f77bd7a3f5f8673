// First, and what needs a newer Node only after it: an older one gets a sentence instead of a stack.
import "../node-version.mjs";

// A reader that went away (`npm start | head`) must not end the service.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
const { runService } = await import("../runtime/boot/run-service.ts");
process.exit(await runService());
