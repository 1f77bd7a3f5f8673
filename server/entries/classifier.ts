import type { Answer, Question } from "../features/avatars/classifier/contract.ts";

/**
 * Entry of the classifier's process. It ends together with its worker, not by a signal: Ctrl-C and service
 * managers signal every process while the worker still finishes its current picture.
 */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));

const send = (answer: Answer) => process.send?.(answer);

// Imported late, because loading the model takes seconds, in which signals must already be ignored.
const { startModel } = await import("../features/avatars/classifier/model.ts");
const classify = await startModel();
process.on("message", ({ id, pixels }: Question) => send({ id, scores: classify(pixels) }));
send({ id: 0, scores: {} });
