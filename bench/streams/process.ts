import { serveCalls } from "../rpc.ts";
import { markedMessage } from "./mark.ts";
import { openPublisher, type Target } from "./publisher.ts";
import { Reader, type OpenOptions } from "./reader.ts";

export interface PublishOptions {
  target: Target;
  /** Topics published by this process, with their newest numbers. */
  topics: Record<string, number>;
  seconds: number;
  bytes: number;
  /**
   * Events per second over all topics; null publishes the next one as soon as the first stream of a topic
   * has caught up.
   */
  perSecond: number | null;
}

/** Events of one topic in flight when publishing is as fast as reading. */
const window = 16;

const reader = new Reader();

async function publish(options: PublishOptions): Promise<Record<string, number>> {
  const publisher = await openPublisher(options.target);
  const topics = Object.entries(options.topics).map(([name, seq]) => ({ name, seq }));
  const send = (topic: { name: string; seq: number } | undefined) => {
    if (!topic) return;
    topic.seq += 1;
    publisher.publish(topic.name, topic.seq, markedMessage(topic.name, topic.seq, options.bytes));
  };
  const until = performance.now() + options.seconds * 1000;
  if (options.perSecond === null) await flood(topics, send, publisher.flush, until);
  else await pace(topics, options.perSecond, send, publisher.flush, until);
  await publisher.done();
  publisher.close();
  return Object.fromEntries(topics.map(({ name, seq }) => [name, seq]));
}

type Topics = { name: string; seq: number }[];

async function pace(
  topics: Topics,
  perSecond: number,
  send: (topic: Topics[number] | undefined) => void,
  flush: () => void,
  until: number,
): Promise<void> {
  const started = performance.now();
  for (let sent = 0; performance.now() < until;) {
    const due = ((performance.now() - started) * perSecond) / 1000;
    for (; sent < due; sent++) send(topics[sent % topics.length]);
    flush();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function flood(
  topics: Topics,
  send: (topic: Topics[number]) => void,
  flush: () => void,
  until: number,
): Promise<void> {
  const fill = () => {
    if (performance.now() >= until) return;
    for (const topic of topics)
      while (topic.seq - reader.progressOf(topic.name) < window) send(topic);
    flush();
  };
  let isAsked = false;
  reader.onProgress = () => {
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      fill();
    });
  };
  fill();
  await new Promise((resolve) => setTimeout(resolve, until - performance.now()));
  reader.onProgress = () => undefined;
}

const calls = {
  open: (options: OpenOptions) => reader.open(options),
  publish,
  begin: () => {
    reader.latencies.clear();
    reader.delivered = 0;
  },
  counts: () => ({
    delivered: reader.delivered,
    latencies: reader.latencies.pack(),
  }),
  settle: ({ finals, waitMs }: { finals: Record<string, number>; waitMs: number }) =>
    reader.settle(finals, waitMs),
};
export type StreamCalls = typeof calls;
serveCalls(calls);
