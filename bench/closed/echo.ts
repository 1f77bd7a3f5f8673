import { App } from "../../server/http/uws/uws.ts";
import { serveCalls } from "../rpc.ts";

/**
 * Upper bound: raw uWebSockets.js that reads the request body and responds with as many bytes as the
 * service.
 */
const body = `{"padding":"${"x".repeat(Number(process.argv[2] ?? 300))}"}`;
const app = App();
app.any("/*", (response, request) => {
  response.onAborted(() => {});
  if (request.getMethod() === "get") {
    response.cork(() => response.writeHeader("Content-Type", "application/json").end(body));
    return;
  }
  response.onData((_chunk, isLast) => {
    if (isLast) response.cork(() => response.writeStatus("204 No Content").endWithoutBody());
  });
});
await new Promise<void>((resolve, reject) => {
  app.listen("127.0.0.1", Number(process.argv[3]), (socket) =>
    socket ? resolve() : reject(new Error("the port is taken")),
  );
});
serveCalls({});
