import { AppError } from "../core/errors.ts";
import type { HubLimits } from "./limits.ts";

interface Place {
  seatId: number | null;
  ip: string;
}

/** Counts the open streams of this process, by seat and by address (HUB-07). */
export class Admission {
  private readonly limits: HubLimits;
  private readonly maxPerAddress: number;
  private readonly seats = new Map<number, number>();
  private readonly addresses = new Map<string, number>();
  private total = 0;

  constructor(limits: HubLimits, maxPerAddress: number) {
    this.limits = limits;
    this.maxPerAddress = maxPerAddress;
  }

  /** Throws `rate_limit:exceeded`, or `server:unavailable` when the process is full. */
  check(place: Place): void {
    const params = { retry_after: this.limits.retryAfterSeconds };
    if (this.total >= this.limits.maxStreams) throw new AppError("server:unavailable", { params });
    const ofSeat = place.seatId === null ? 0 : (this.seats.get(place.seatId) ?? 0);
    const ofAddress = this.addresses.get(place.ip) ?? 0;
    if (ofSeat >= this.limits.maxStreamsPerSeat || ofAddress >= this.maxPerAddress)
      throw new AppError("rate_limit:exceeded", { params });
  }

  /** False when the place was taken since it was checked. */
  enter(place: Place): boolean {
    try {
      this.check(place);
    } catch {
      return false;
    }
    this.add(place, 1);
    return true;
  }

  leave(place: Place): void {
    this.add(place, -1);
  }

  private add(place: Place, difference: number): void {
    this.total += difference;
    change(this.addresses, place.ip, difference);
    if (place.seatId !== null) change(this.seats, place.seatId, difference);
  }
}

function change<K>(counts: Map<K, number>, key: K, difference: number): void {
  const count = (counts.get(key) ?? 0) + difference;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
