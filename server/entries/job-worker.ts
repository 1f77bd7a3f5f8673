import { runChild } from "../runtime/boot/run-child.ts";

await runChild(async () => (await import("../../workers/main.ts")).startJobWorker);
