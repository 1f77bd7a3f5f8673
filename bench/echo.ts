import { App } from "uWebSockets.js";

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
app.listen("127.0.0.1", 0, (socket) => {
  if (!socket) throw new Error("no free port");
  void import("uWebSockets.js").then(({ us_socket_local_port }) =>
    process.send?.({ port: us_socket_local_port(socket) }),
  );
});
process.on("disconnect", () => process.exit(0));
