import { runChild } from "../boot/run-child.ts";

await runChild(async () => (await import("../operator/main.ts")).startOperator());
