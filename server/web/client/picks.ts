import type { PlayerPick } from "./events.ts";
import type { Lobby } from "../generated/types.ts";

/**
 * The picks of one question. Reads and events may overtake each other, so each pick is kept with the number of the
 * event that it is known from, and an older one is ignored.
 */
export class Picks {
  #index: number | undefined;
  /** Up to this event the picks of players without an entry are known: there are none. */
  #since = 0;
  /** Null: the player has left, and the pick with it. */
  readonly #known = new Map<number, { selected_index: number | null; seq: number }>();

  get list(): PlayerPick[] {
    return [...this.#known].flatMap(([player_id, { selected_index }]) =>
      selected_index === null ? [] : [{ player_id, selected_index }],
    );
  }

  /** Forgets the picks when the question is closed or the lobby is at another one. */
  follow(lobby: Lobby): void {
    const { seq } = lobby;
    const index = openIndex(lobby);
    if (index === this.#index) return this.#lower(seq);
    this.#index = index;
    this.#since = seq;
    this.#known.clear();
  }

  /** After a restored backup, the numbers of a lobby continue from a lower one. */
  #lower(seq: number): void {
    this.#since = Math.min(this.#since, seq);
    for (const pick of this.#known.values()) pick.seq = Math.min(pick.seq, seq);
  }

  /** Adds the pick of an event; null if its player has left. */
  note(player_id: number, selected_index: number | null, seq: number): void {
    if (seq > (this.#known.get(player_id)?.seq ?? this.#since))
      this.#known.set(player_id, { selected_index, seq });
  }

  /** Takes the picks of a read, which are complete up to its `seq`: a player without one has left since. */
  take(lobby: Lobby, picks: readonly PlayerPick[]): void {
    const { seq } = lobby;
    if (openIndex(lobby) !== this.#index) return;
    const read = new Map(picks.map((pick) => [pick.player_id, pick.selected_index]));
    for (const [id, pick] of this.#known)
      if (pick.seq <= seq && !read.has(id)) this.#known.delete(id);
    for (const [id, selected_index] of read)
      if (seq >= (this.#known.get(id)?.seq ?? 0)) this.#known.set(id, { selected_index, seq });
    this.#since = Math.max(this.#since, seq);
  }
}

const openIndex = ({ current_question: question, reveal }: Lobby): number | undefined =>
  reveal === null ? question?.index : undefined;
