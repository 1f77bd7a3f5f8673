// A preload (NODE_OPTIONS=--import=...): every process of Node needs a fifth more processor time, whatever it does.
const share = 0.2;
/** Each time costs a little itself. */
const everyMs = 200;

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

let burnedMs = 0;

/** By the clock of the wall, since that of the processor may move in steps of 10 ms. */
function burn() {
  const wantedMs = (cpuMs() - burnedMs) * share;
  const startedAt = performance.now();
  const until = startedAt + Math.min(wantedMs - burnedMs, everyMs);
  while (performance.now() < until) Math.sqrt(until);
  burnedMs += performance.now() - startedAt;
}

setInterval(burn, everyMs).unref();
