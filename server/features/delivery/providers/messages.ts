/** A mail as a driver gets it: rendered, every part safe for its place. */
export interface OutgoingMail {
  /** The same at every attempt, so that receivers can drop a second copy. */
  id: string;
  to: string;
  /** How the sender calls itself; the address is that of `MAIL_FROM`. */
  fromName: string;
  subject: string;
  text: string;
  html: string;
  replyTo: string | null;
  /** Address that takes the recipient off the list by one POST (RFC 8058). */
  unsubscribeUrl: string | null;
}

export interface OutgoingSms {
  id: string;
  /** E.164 */
  to: string;
  text: string;
}

/** One way of sending. Both functions reject with `DeliveryError` and with nothing else. */
export interface Sender<M> {
  name: string;
  /** What is sent stays readable in the development inbox instead of leaving the machine. */
  keepsContent: boolean;
  send(message: M): Promise<void>;
  close(): void;
}

export interface Senders {
  mail: Sender<OutgoingMail>;
  sms: Sender<OutgoingSms>;
}

/**
 * Why a message did not go out. `reason` reaches job lists and logs: it names the kind of failure,
 * never what the other side wrote, since that repeats addresses (S27).
 */
export class DeliveryError extends Error {
  /** Trying again cannot help. */
  readonly isPermanent: boolean;

  constructor(reason: string, isPermanent: boolean, cause?: unknown) {
    super(reason, { cause });
    this.name = "DeliveryError";
    this.isPermanent = isPermanent;
  }
}

/** Every attempt ends within this, well before another process may take the message up. */
export const sendLimitMs = 20_000;
