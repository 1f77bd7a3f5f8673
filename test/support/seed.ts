import fc from "fast-check";

const setting = "TEST_SEED";

/** Random seed of a run; TEST_SEED repeats it. */
export const seed = Number(process.env[setting] ?? Date.now() % 1_000_000);

// The first process prints it, and passes it to its children.
if (process.env[setting] === undefined) process.stdout.write(`${setting}=${seed}\n`);
process.env[setting] = String(seed);

fc.configureGlobal({ seed });

/** fast-check with this seed, unless a test passes another one. */
export { fc };
