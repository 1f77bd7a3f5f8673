// `node probe.mjs [live|ready]`: exit code 0 if the probe of the operator listener answers 200, for health checks.
const [, , name = "ready"] = process.argv;
const port = (process.env.OPERATOR_LISTEN ?? "127.0.0.1:9090").split(":").at(-1);
const answer = await fetch(`http://127.0.0.1:${port}/${name}`, {
  signal: AbortSignal.timeout(2_000),
}).catch((error) => ({ status: 0, text: async () => String(error.cause ?? error) }));
process.stdout.write(`${await answer.text()}\n`);
process.exit(answer.status === 200 ? 0 : 1);
