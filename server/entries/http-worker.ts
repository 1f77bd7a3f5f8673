import { runChild } from "../boot/run-child.ts";

await runChild(async () => (await import("../worker.ts")).startHttpWorker());
