import type { Fleet } from "../fleet/fleet.ts";
import type { FleetQuestion } from "../fleet/link.ts";
import type { AllQuestion, DrainQuestion, FleetAnswer, Question } from "../process-questions.ts";
import type { Children } from "./children.ts";
import type { Drains } from "./drains.ts";
import type { Instance } from "./instance.ts";

export interface AnswersDeps {
  /** Instance id of this primary. */
  id: string;
  host: string;
  children: Pick<Children, "list" | "ask" | "workers">;
  instance: Pick<Instance, "answers">;
  drains: Pick<Drains, "drain" | "isLeaving">;
  fleet: Pick<Fleet, "drain" | "askOthers">;
}

/** What the primary answers to its processes, and to the primaries of other instances. */
export class Answers {
  readonly #deps: AnswersDeps;

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
  }

  /** To the primary of another instance: for this instance alone. */
  async toInstance(question: FleetQuestion, about: unknown): Promise<unknown> {
    const { children, drains } = this.#deps;
    switch (question) {
      case "processes":
        return children.list();
      case "successor":
        return this.#takesRooms();
      case "drain":
        return drains.drain((about as DrainQuestion).index);
      default:
        return children.ask(question, about);
    }
  }

  /** To one of its processes: for this instance, or with `fleet` and `drain` for all. */
  async toProcess(question: Question, about: unknown): Promise<unknown> {
    const { children, drains, fleet, id } = this.#deps;
    if (question === "processes") return children.list();
    if (question === "fleet") return this.#askAll(about as AllQuestion);
    if (question !== "drain") return children.ask(question, about);
    const { index, instance = id } = about as DrainQuestion;
    return instance === id ? drains.drain(index) : fleet.drain(instance, index);
  }

  async #askAll({ question, about }: AllQuestion): Promise<FleetAnswer[]> {
    const { id: instance, host, fleet } = this.#deps;
    const [answer, others] = await Promise.all([
      this.toInstance(question, about),
      fleet.askOthers(question, about),
    ]);
    return [{ instance, host, answer }, ...others];
  }

  /** Ready, with a worker that will go on. */
  #takesRooms(): boolean {
    const { children, instance, drains } = this.#deps;
    const isReady = instance.answers().ready.status === 200;
    return isReady && !drains.isLeaving && children.workers().some((one) => one.isReplaceable);
  }
}
