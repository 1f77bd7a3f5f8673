/** A rendered mail for a driver; every part is escaped. */
export interface OutgoingMail {
  /** Equal at every attempt, so that receivers can drop duplicates. */
  id: string;
  to: string;
  /** Display name of the sender; the address is that of `MAIL_FROM`. */
  fromName: string;
  subject: string;
  text: string;
  html: string;
  replyTo: string | null;
  /** Address for one-click unsubscribe by POST (RFC 8058). */
  unsubscribeUrl: string | null;
}

export interface OutgoingSms {
  id: string;
  /** E.164 */
  to: string;
  text: string;
}

/** A delivery driver. `send` rejects with a `Fault` only. */
export interface Sender<M> {
  name: string;
  /** Messages stay in the development inbox and are not sent. */
  keepsContent: boolean;
  send(message: M): Promise<void>;
  close(): void;
}

export interface Senders {
  mail: Sender<OutgoingMail>;
  sms: Sender<OutgoingSms>;
}

/** Timeout of an attempt, well below the lease of the message. */
export const sendLimitMs = 20_000;
