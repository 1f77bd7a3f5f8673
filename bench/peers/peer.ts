import type { Target } from "../streams/publisher.ts";
import type { StreamSpec } from "../streams/reader.ts";

/** A server of event streams that is measured. */
export interface Peer {
  name: string;
  port: number;
  target: Target;
  /** Processes whose CPU time and memory are the server's. */
  pids: readonly number[];
  /** Processes of its store. */
  storePids: readonly number[];
  /** Text that tells that a new stream follows its topic; null when the head of the answer does. */
  readyText: string | null;
  /** How the n-th stream of a topic is asked for. */
  stream(topic: string, n: number): StreamSpec;
  /** Frees what is garbage, where the server has any, so that memory can be compared. */
  collect(): Promise<void>;
  stop(): Promise<void>;
}

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A code of a lobby that no server made: topics of the benchmark alone. */
export function topicCode(n: number): string {
  let text = "";
  for (let rest = n, i = 0; i < 5; i++, rest = Math.floor(rest / letters.length))
    text += letters[rest % letters.length];
  return `2${text}`;
}
