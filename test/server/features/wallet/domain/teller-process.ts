import { executeAll, openStore, type MoneyRequest } from "./teller.ts";

/** A process that executes requests and may be killed at any of them. */
process.on("message", (message: { databaseUrl: string; requests: MoneyRequest[] }) => {
  void work(message);
});
process.on("disconnect", () => process.exit(1));
process.send?.("ready");

async function work({ databaseUrl, requests }: { databaseUrl: string; requests: MoneyRequest[] }) {
  const orm = await openStore(databaseUrl);
  await executeAll(orm, requests.values(), (outcome) => process.send?.(outcome));
  await orm.close(true);
  // Messages arrive in order, so with this one all have been sent.
  process.send?.("done", () => process.exit(0));
}
