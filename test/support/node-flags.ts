/** Node's flags for a process of the run. `given`: arguments of the command; `testLimitMs`: a longer test fails. */
export const nodeFlags = (given: readonly string[], testLimitMs: number): string[] => [
  // The cores are busy, so parallel garbage collection costs more than it saves.
  ...["--single-threaded-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"],
  // As in the service: request context without a hook on every promise.
  ...["--experimental-async-context-frame", "--disable-warning=ExperimentalWarning"],
  // Node strips types itself in half the time that tsx takes to load the service.
  ...["--test", "--experimental-test-isolation=none"],
  // A failed test may leave something open that would keep its process alive.
  ...[`--test-timeout=${testLimitMs}`, "--test-force-exit"],
  "--test-reporter=./test/support/reporter.ts",
  ...given.filter((arg) => arg.startsWith("-") && arg !== "--deep"),
];
