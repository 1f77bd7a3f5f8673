/** `npm run bench -- <scenario>`: each scenario starts what it measures and its ceiling in the same run. */
const scenarios: Record<
  string,
  { about: string; load: () => Promise<{ run: () => Promise<void> }> }
> = {
  http: {
    about: "the HTTP stack and a committed lobby pick against raw uWebSockets.js",
    load: () => import("./http.ts"),
  },
  archive: {
    about: "imports, and cached reads of the archive against raw uWebSockets.js",
    load: () => import("./archive.ts"),
  },
};

const name = process.argv[2] ?? "";
const scenario = scenarios[name];
if (!scenario) {
  process.stderr.write("usage: npm run bench -- <scenario>\n");
  for (const [key, { about }] of Object.entries(scenarios))
    process.stderr.write(`  ${key}  ${about}\n`);
  process.exit(1);
}
const { run } = await scenario.load();
await run();
process.exit(0);
