import type { PlayerPick } from "./events.ts";
import type { Lobby } from "./types.ts";

/**
 * The picks of one question. Reads and events may overtake each other, so each pick is kept with the number of the
 * event that it is known from, and an older one is ignored.
 */
export class Picks {
  private index: number | undefined;
  /** The event at which the question was first seen: earlier picks belong to another one, or are in that read. */
  private since = 0;
  private readonly known = new Map<number, { selected_index: number; seq: number }>();

  get list(): PlayerPick[] {
    return [...this.known].map(([player_id, { selected_index }]) => ({
      player_id,
      selected_index,
    }));
  }

  /** Forgets the picks when the lobby is at another question. */
  follow({ current_question: question, seq }: Lobby): void {
    if (question?.index === this.index) return this.lower(seq);
    this.index = question?.index;
    this.since = seq;
    this.known.clear();
  }

  /** After a restored backup, the numbers of a lobby continue from a lower one. */
  private lower(seq: number): void {
    this.since = Math.min(this.since, seq);
    for (const pick of this.known.values()) pick.seq = Math.min(pick.seq, seq);
  }

  /** Adds the pick of an event. */
  note({ player_id, selected_index }: PlayerPick, seq: number): void {
    if (seq > (this.known.get(player_id)?.seq ?? this.since))
      this.known.set(player_id, { selected_index, seq });
  }

  /** Adds the picks of a read, which are complete up to its `seq`. */
  take({ current_question: question, seq }: Lobby, picks: readonly PlayerPick[]): void {
    if (question?.index !== this.index) return;
    for (const { player_id, selected_index } of picks)
      if (seq >= (this.known.get(player_id)?.seq ?? 0))
        this.known.set(player_id, { selected_index, seq });
  }
}
