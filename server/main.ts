import cluster from "node:cluster";
import { ConfigError } from "./core/config.ts";
import { prepareChild, type Role } from "./ipc.ts";

/** One entry for all processes: without a role it is the primary, which forks the others. */
const starters: Record<Role, () => Promise<void>> = {
  http: async () => (await import("./worker.ts")).startHttpWorker(),
  jobs: async () => (await import("../workers/main.ts")).startJobWorker(),
  operator: async () => (await import("./operator/main.ts")).startOperator(),
};

if (cluster.isPrimary) process.exit(await startPrimary());
else await startChild(process.argv[2] as Role);

async function startPrimary(): Promise<number> {
  // A reader that went away (`npm start | head`) must not end the service.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
  try {
    const { runPrimary } = await import("./boot/primary.ts");
    return await runPrimary();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

async function startChild(role: Role): Promise<void> {
  prepareChild();
  try {
    await starters[role]();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? reason) : reason}\n`);
    process.send?.({ type: "failed", reason }, undefined, {}, () => process.exit(1));
  }
}
