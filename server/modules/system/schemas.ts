import Type from "typebox";

export const HealthBody = Type.Object({
  status: Type.Enum(["ok", "degraded"]),
  /** Of the answering process: `<d>d <h>h <m>m <s>s`. */
  uptime: Type.String({ pattern: "^\\d+d \\d+h \\d+m \\d+s$" }),
});
