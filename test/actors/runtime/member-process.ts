import { newMember } from "./fleet.ts";

/**
 * A worker in a process of its own, for tests that kill or freeze it. Arguments: address of the store, and
 * "mute" for a worker whose draws never come back. It reads the lobbies it is sent the codes of.
 */
const [, , redisUrl, kind] = process.argv;
if (!redisUrl) throw new Error("give the address of Redis");
const draw = kind === "mute" ? { draw: () => new Promise<never>(() => {}) } : {};
const member = await newMember(redisUrl, draw);
process.send?.({ ready: true, incarnation: member.lobbies.describe().incarnation });
process.on("message", ({ read }: { read: string }) => {
  const by = { seatId: null, playerId: null };
  const reply = Promise.resolve(member.lobbies.ask(read, { type: "read", by }));
  void reply.then((one) => process.send?.({ reply: one }));
});
process.on("disconnect", () => process.exit(0));
