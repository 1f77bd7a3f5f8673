import type { Target } from "../streams/publisher.ts";
import type { StreamSpec } from "../streams/reader.ts";

/** An event stream server under measurement. */
export interface Peer {
  name: string;
  port: number;
  target: Target;
  /** Processes whose CPU time and memory count for the server. */
  pids: readonly number[];
  /** Processes of its store. */
  storePids: readonly number[];
  /** Text that marks a new stream as subscribed; null if the response head does. */
  readyText: string | null;
  /** The request of the n-th stream of a topic. */
  stream(topic: string, n: number): StreamSpec;
  stop(): Promise<void>;
}

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A lobby code that no server generated, for topics of the benchmark. */
export function topicCode(n: number): string {
  let text = "";
  for (let rest = n, i = 0; i < 5; i++, rest = Math.floor(rest / letters.length))
    text += letters[rest % letters.length];
  return `2${text}`;
}
