import type { Answer, Question } from "../features/avatars/classifier/contract.ts";

/**
 * Entry of the classifier's process. It ends with the worker that asks it, not by a signal: Ctrl-C and
 * service managers send one to every process, while the worker still finishes the picture it is at.
 */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));

const send = (answer: Answer) => process.send?.(answer);

// What is loaded takes seconds, in which the signals must not find the process without the above.
const { startModel } = await import("../features/avatars/classifier/model.ts");
const classify = await startModel();
process.on("message", ({ id, pixels }: Question) => send({ id, scores: classify(pixels) }));
send({ id: 0, scores: {} });
