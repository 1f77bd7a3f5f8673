import { roomName, type Origin } from "../server/platform/origin.ts";
import type { OpenSpan, Tracer } from "../server/platform/tracing/tracer.ts";
import type { AnyKind } from "./kind.ts";
import { notOwner, type Outcome } from "./outcome.ts";

/** When its steps began: deciding, committing, and the work after the commit. */
export type CommandStep = "decide" | "commit" | "follow";

interface Published {
  type: string;
  seq: number;
}

/**
 * A command in its room as a part of the trace of its origin: it waits, is decided, is committed and publishes. Commands
 * that share a batch have the same times.
 */
export class CommandSpan {
  readonly #tracer: Tracer;
  readonly #span: OpenSpan;
  readonly #startMs: number;
  readonly #begun = new Map<CommandStep, number>();
  readonly #published: Published[] = [];

  constructor(tracer: Tracer, { kind }: Pick<AnyKind, "kind">, code: string, about: TracedCommand) {
    const { type, origin, startMs } = about;
    this.#tracer = tracer;
    this.#startMs = startMs;
    this.#span = tracer.start(`${kind} ${type}`, {
      ...{ kind: "internal", parent: origin.traceparent, startMs },
      facts: {
        "emberline.room": roomName(kind, code),
        "emberline.command": type,
        ...(origin.requestId === null ? {} : { "emberline.request.id": origin.requestId }),
      },
    });
  }

  get traceparent(): string {
    return this.#span.traceparent;
  }

  /** A step begins; of a command that is decided again the last time counts. */
  begin(step: CommandStep, atMs: number): void {
    if (step === "decide") this.#published.length = 0;
    this.#begun.set(step, atMs);
  }

  /** The command adds a message to the stream of its room, which its commit publishes. */
  publish(type: string, seq: number): void {
    this.#published.push({ type, seq });
  }

  /** `not_owner`: it is sent again, to the next owner. */
  end(outcome: Outcome, endMs: number): void {
    const decideMs = this.#begun.get("decide");
    const commitMs = this.#begun.get("commit");
    const followMs = this.#begun.get("follow");
    this.#step("wait", this.#startMs, decideMs ?? endMs);
    if (decideMs !== undefined) this.#step("decide", decideMs, commitMs ?? endMs);
    if (commitMs !== undefined) this.#step("commit", commitMs, followMs ?? endMs);
    if (commitMs !== undefined && followMs !== undefined)
      for (const { type, seq } of this.#published)
        this.#part(`publish ${type}`, "producer", commitMs, { "emberline.event.seq": seq }).end(
          followMs,
        );
    if (outcome === notOwner) this.#span.end(endMs, { "emberline.code": "not_owner" });
    else if (outcome.ok) this.#span.end(endMs);
    else this.#span.end(endMs, { "emberline.code": outcome.code }, errorOf(outcome.code));
  }

  #step(name: string, startMs: number, endMs: number): void {
    this.#part(name, "internal", startMs).end(endMs);
  }

  #part(name: string, kind: "internal" | "producer", startMs: number, facts = {}): OpenSpan {
    return this.#tracer.start(name, { kind, parent: this.traceparent, startMs, facts });
  }
}

interface TracedCommand {
  type: string;
  origin: Origin;
  startMs: number;
}

/** A refusal is an answer. */
const errorOf = (code: string) => (code.startsWith("server:") ? code : null);
