import type { AnyActor, BaseEvent, BaseState } from "../definition.ts";

/** The state after an event, with the number of the last published message, whatever the rules put there. */
export function evolveCounted(
  definition: Pick<AnyActor, "evolve" | "messages">,
  state: BaseState | null,
  event: BaseEvent,
): BaseState {
  const next = definition.evolve(state, event);
  const seq = (state?.seq ?? 0) + (definition.messages[event.type] ? 1 : 0);
  // Rules that count themselves spare a copy.
  return next.seq === seq ? next : { ...next, seq };
}
