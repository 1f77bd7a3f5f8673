import Type from "typebox";
import { trimmedText } from "../../platform/schemas.ts";

export const HealthBody = Type.Object({
  status: Type.Enum(["ok", "degraded"]),
  /** Of the answering process: `<d>d <h>h <m>m <s>s`. */
  uptime: Type.String({ pattern: "^\\d+d \\d+h \\d+m \\d+s$" }),
});

const emailOf = (maxLength: number) =>
  Type.String({ format: "email", maxLength, description: "a mail address" });

/** `medium:topic` (USR-07). */
const Channel = Type.String({
  pattern: "^(email|sms|push):[a-z][a-z0-9_]{0,31}$",
  description: "email, sms or push with a topic, as email:marketing",
});

export const SubscribeBody = Type.Object({
  email: emailOf(254),
  // No union: for an invalid entry it would also report that the list is not null.
  channels: Type.Optional(
    Type.Unsafe<string[] | null>({ type: ["array", "null"], items: Channel, maxItems: 32 }),
  ),
});

/** A link from a mail may have any text: the handler validates it. */
export const LinkQuery = Type.Object({
  email: Type.Optional(Type.String({ plus: true })),
  token: Type.Optional(Type.String()),
});

/** Fields of the form on a link page. */
export const LinkAnswer = Type.Object({ answer: Type.Enum(["yes", "no"]) });

export const ContactBody = Type.Object({
  fullname: trimmedText(1, 255),
  email: emailOf(254),
  discovery: trimmedText(1, 64),
  subject: trimmedText(1, 255),
  message: trimmedText(10, 5_000),
});

export const FeedbackBody = Type.Object({
  kind: Type.Enum(["bug", "idea", "praise", "other"]),
  source: trimmedText(1, 64),
  message: trimmedText(5, 5_000),
  email: Type.Optional(emailOf(255)),
  route: Type.Optional(trimmedText(0, 512)),
  context: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
