const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A lobby code that no server generated. */
export function topicCode(n: number): string {
  let text = "";
  for (let rest = n, i = 0; i < 5; i++, rest = Math.floor(rest / letters.length))
    text += letters[rest % letters.length];
  return `2${text}`;
}
