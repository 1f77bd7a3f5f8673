import { App, us_socket_local_port } from "uWebSockets.js";
import { serveCalls } from "./rpc.ts";

/** The ceiling: raw uWebSockets.js that reads the request's body and answers as many bytes as the service does. */
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
let port = 0;
app.listen("127.0.0.1", 0, (socket) => {
  if (!socket) throw new Error("no free port");
  port = us_socket_local_port(socket);
});
serveCalls({ port: () => port });
