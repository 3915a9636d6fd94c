/** Bytes as lines of text, wherever they were cut. */
import { Lines } from "../transport/lines.ts";

export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const lines = new Lines();
  for await (const chunk of bytes) {
    const complete: string[] = [];
    await lines.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), (line) => void complete.push(line));
    yield* complete;
  }
  const last = lines.rest();
  if (last !== "") yield last;
}
