import { newMember } from "./fleet.ts";

/**
 * A worker in a separate process, for tests that kill or freeze it. Arguments: address of Redis, and "mute"
 * for a worker whose draws never finish. It reads the lobbies whose codes it receives.
 */
const [, , redisUrl, kind] = process.argv;
if (!redisUrl) throw new Error("give the address of Redis");
const draw = kind === "mute" ? { draw: () => new Promise<never>(() => {}) } : {};
const member = await newMember(redisUrl, draw);
process.send?.({ ready: true, nodeId: member.lobbies.describe().nodeId });
process.on("message", ({ read }: { read: string }) => {
  const by = { seatId: null, playerId: null };
  const reply = Promise.resolve(member.lobbies.ask(read, { type: "read", by }));
  void reply.then((one) => process.send?.({ reply: one }));
});
process.on("disconnect", () => process.exit(0));
