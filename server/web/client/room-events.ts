import { readTopic, type StreamSource } from "./event-stream.ts";
import type { Message } from "./events.ts";
import type { StreamOptions } from "./options.ts";
import type { Link } from "./request.ts";

type AnyEvent = Message<string, Record<string, { status?: string } | undefined>>;

/** Every event of a room once and in order; a snapshot and a gap count always. Ends with the room. */
export async function* roomEvents<Event>(
  link: Link,
  kind: string,
  source: StreamSource,
  options: StreamOptions,
): AsyncGenerator<Event, void, undefined> {
  let seen = -1;
  for await (const { event: type, message } of readTopic(link, source, options)) {
    const { seq, data } = message as AnyEvent;
    const isSnapshot = type === `${kind}.snapshot`;
    if (seq <= seen && !isSnapshot && type !== `${kind}.gap`) continue;
    seen = seq;
    yield message as Event;
    if (type === `${kind}.ended` || (isSnapshot && data[kind]?.status === "finished")) return;
  }
}
