import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A span as a collector receives it. */
export interface ReceivedSpan {
  traceId: string;
  id: string;
  /** Empty for the first one of a trace. */
  parentId: string;
  name: string;
  /** Role and index of the process that sent it. */
  process: string;
  isError: boolean;
  facts: Record<string, string>;
  startMs: number;
  endMs: number;
}

export interface Collector {
  url: string;
  spans: ReceivedSpan[];
  /** Everything that was sent, as text. */
  texts: string[];
  stop(): Promise<void>;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code: number };
  attributes: Attribute[];
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface Sent {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: SentSpan[] }[];
  }[];
}

/** Receives traces by OTLP over HTTP, as JSON. With a `port`, one that was there before is back. */
export async function startCollector(port = 0): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const isMeant = request.method === "POST" && request.url === "/v1/traces";
      if (isMeant) {
        texts.push(body);
        spans.push(...spansIn(JSON.parse(body) as Sent));
      }
      response.writeHead(isMeant ? 200 : 404, { "Content-Type": "application/json" }).end("{}");
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    texts,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const spansIn = ({ resourceSpans }: Sent): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const process = factsOf(resource.attributes)["emberline.process"] ?? "";
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...{ traceId: span.traceId, id: span.spanId, parentId: span.parentSpanId ?? "" },
        ...{ name: span.name, process, isError: span.status.code === 2 },
        facts: factsOf(span.attributes),
        startMs: Number(BigInt(span.startTimeUnixNano)) / 1e6,
        endMs: Number(BigInt(span.endTimeUnixNano)) / 1e6,
      })),
    );
  });

const factsOf = (attributes: readonly Attribute[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
