import { serve } from "../../../server/app/http-worker.ts";
import { runChild } from "../../../server/runtime/boot/run-child.ts";
import { kinds, routes } from "./counter-rooms.ts";

/** Missed heartbeats mark no node as dead here: rooms move only after a node-down notice. */
const neverMs = 1e9;

/** An HTTP worker of the service that also runs counters. */
await runChild(async () => async (order) => {
  await serve(order, { kinds, routes, timings: { deadMs: neverMs } });
});
