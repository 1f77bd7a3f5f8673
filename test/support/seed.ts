import fc from "fast-check";

const setting = "TEST_SEED";

/** What a run chooses by chance; TEST_SEED repeats it. */
export const seed = Number(process.env[setting] ?? Date.now() % 1_000_000);

// Whoever is the first says it, for the processes it starts too.
if (process.env[setting] === undefined) process.stdout.write(`${setting}=${seed}\n`);
process.env[setting] = String(seed);

fc.configureGlobal({ seed });

/** fast-check, with this seed unless a test gives its own. */
export { fc };
