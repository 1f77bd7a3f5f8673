import { serveCalls } from "../rpc.ts";
import { RoomLoad, type RunOptions } from "./generator.ts";
import { openColyseusRoom } from "./colyseus-link.ts";
import { openHttpRoom } from "./http-link.ts";
import type { OpenRoom, RoomSpec } from "./links.ts";
import { openSocketIoRoom } from "./socketio-link.ts";

/** Protocols between a peer and its clients. */
const protocols = {
  http: openHttpRoom,
  socketio: openSocketIoRoom,
  colyseus: openColyseusRoom,
} satisfies Record<string, OpenRoom>;

const generator = new RoomLoad();
const calls = {
  open: (given: { port: number; protocol: keyof typeof protocols; rooms: RoomSpec[] }) =>
    generator.open(given.port, given.rooms, protocols[given.protocol]),
  run: (options: RunOptions) => generator.run(options),
};
export type RoomLoadCalls = typeof calls;
export type Protocol = keyof typeof protocols;
serveCalls(calls);
