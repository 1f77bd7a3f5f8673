import { runChild } from "../runtime/boot/run-child.ts";

await runChild(async () => (await import("../operator/main.ts")).startOperator);
