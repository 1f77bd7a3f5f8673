import { fulfil, openStore, type Wish } from "./teller.ts";

/** A process that executes requests and may be killed at any of them. */
process.on("message", (message: { databaseUrl: string; wishes: Wish[] }) => {
  void work(message);
});
process.on("disconnect", () => process.exit(1));
process.send?.("ready");

async function work({ databaseUrl, wishes }: { databaseUrl: string; wishes: Wish[] }) {
  const orm = await openStore(databaseUrl);
  await fulfil(orm, wishes.values(), (outcome) => process.send?.(outcome));
  await orm.close(true);
  // Messages arrive in order, so with this one all have been sent.
  process.send?.("done", () => process.exit(0));
}
