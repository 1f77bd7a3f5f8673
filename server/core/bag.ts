/** What a bag needs to find a member again; -1 outside of it. */
export interface Bagged {
  place: number;
}

/**
 * Members in no order that come and go all the time. A Set makes itself a new table every few dozen changes,
 * and each table leads to the next: once the collector has moved one among what is old, all later ones, with
 * every member they had, stay until it looks through that as well.
 */
export class Bag<T extends Bagged> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: T): void {
    if (member.place >= 0) return;
    member.place = this.members.length;
    this.members.push(member);
  }

  delete(member: T): void {
    const last = this.members[this.members.length - 1];
    if (member.place < 0 || last === undefined) return;
    this.members[member.place] = last;
    last.place = member.place;
    member.place = -1;
    this.members.pop();
  }

  /** From the last to the first, so that the one at hand may leave. */
  *[Symbol.iterator](): Generator<T> {
    for (let at = this.members.length - 1; at >= 0; at--) {
      const member = this.members[at];
      if (member !== undefined) yield member;
    }
  }
}
