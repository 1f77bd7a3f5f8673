/** The answer of INFO: each field of each section. */
export function parseRedisInfo(text: string): Map<string, string> {
  const pairs = text.split("\r\n").map((line) => line.split(":", 2));
  return new Map(pairs.map(([name = "", value = ""]) => [name, value]));
}
