// Loaded into every process of a service by NODE_OPTIONS: on SIGUSR2 it writes the functions that have run since the
// last signal, by V8's precise coverage, into a file of the folder WALKS_DIR.
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";

const folder = process.env.WALKS_DIR;
if (folder) {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  let number = 0;
  process.on("SIGUSR2", () => {
    session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      const ran = result
        .filter(
          ({ url }) =>
            url.startsWith("file://") && !url.includes("/node_modules/") && !url.includes("/test/"),
        )
        .flatMap(({ url, functions }) =>
          functions
            .filter(({ ranges }) => ranges[0].count > 0)
            .map(({ functionName, ranges }) => [url, functionName, ranges[0].startOffset]),
        );
      const file = `${folder}/${process.pid}-${++number}.json`;
      writeFileSync(`${file}.part`, JSON.stringify(error ? [] : ran));
      renameSync(`${file}.part`, file);
    });
  });
}
