import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The parts of a chat-completions request that tests read. */
export interface ChatRequest {
  model: string;
  messages: { role: string; content: string }[];
  response_format?: {
    type: string;
    json_schema: { name: string; strict: boolean; schema: object };
  };
  authorization: string | undefined;
  path: string | undefined;
}

/** The server's reaction to a request; `value` is the JSON text of the answer. */
export type Reaction =
  | { value: unknown; usage?: { prompt_tokens: number; completion_tokens: number } }
  | { text: string }
  | { status: number; headers?: Record<string, string>; body?: string }
  | { kind: "hang" | "cut" | "flood" };

export interface ChatServer {
  /** Value for GENERATOR_URL. */
  url: string;
  requests: ChatRequest[];
  /** Sets the reactions to the following requests; the last one repeats. */
  script(...reactions: (Reaction | ((request: ChatRequest) => Reaction))[]): void;
  stop(): Promise<void>;
}

/** A scripted language model: a local server of the chat-completions protocol. */
export async function startChatServer(): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  let script: Parameters<ChatServer["script"]> = [];
  const server = createServer((incoming, response) => {
    void answer(incoming, response);
  });
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { authorization } = incoming.headers;
    const body = (await read(incoming)) as ChatRequest;
    const request = { ...body, authorization, path: incoming.url };
    requests.push(request);
    const line = (script.length > 1 ? script.shift() : script[0]) ?? { status: 500 };
    react(response, typeof line === "function" ? line(request) : line);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    script: (...reactions) => {
      requests.length = 0;
      script = reactions;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : JSON.parse(text);
}

function react(response: ServerResponse, reaction: Reaction): void {
  if ("kind" in reaction) {
    if (reaction.kind === "cut") response.destroy();
    if (reaction.kind === "flood") flood(response);
    return;
  }
  if ("status" in reaction) {
    response.writeHead(reaction.status, {
      "content-type": "application/json",
      ...reaction.headers,
    });
    response.end(reaction.body ?? JSON.stringify({ error: { message: "no" } }));
    return;
  }
  const content = "text" in reaction ? reaction.text : JSON.stringify(reaction.value);
  const usage = "usage" in reaction ? reaction.usage : undefined;
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      id: "chat-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
      ...(usage === undefined ? {} : { usage }),
    }),
  );
}

/** Endless bytes, as long as the client reads. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(64 * 1_024, " ");
  const write = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", write);
  response.on("error", () => {});
  write();
}
