import { runChild } from "../runtime/boot/run-child.ts";

await runChild(async () => (await import("../app/http-worker.ts")).startHttpWorker);
