import { joinFrames, type Chunk, type Frame } from "../stream/frames.ts";

/** True when `frames` are numbered without a hole and begin at `first`. */
export function isContiguous(frames: readonly Frame[], first: number): boolean {
  return frames.every((frame, i) => frame.seq === first + i);
}

/** All frames as chunks of at most `maxBytes`, numbered without a hole. */
export function* chunksOf(
  frames: readonly Frame[],
  maxBytes: number,
  isSpectator: boolean,
): Generator<Chunk> {
  const first = frames[0]?.seq ?? 0;
  for (let start = 0; start < frames.length;) {
    const chunk = joinFrames(frames, start, maxBytes, isSpectator);
    if (!chunk) return;
    yield chunk;
    start = chunk.lastSeq - first + 1;
  }
}
