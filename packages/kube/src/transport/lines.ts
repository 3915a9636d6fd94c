/** Puts the lines of a stream together again, wherever the network has cut it: also inside a character. */
const NEWLINE = 0x0a;

export class Lines {
  /** Pieces of a line whose end has not come yet. */
  #pieces: Buffer[] = [];

  /** Calls `onLine` with each line that the chunk completes; whoever returns a promise is waited for. */
  async push(chunk: Buffer, onLine: (line: string) => void | Promise<void>): Promise<void> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line =
        this.#pieces.length > 0
          ? Buffer.concat([...this.#pieces.splice(0), chunk.subarray(start, end)]).toString()
          : chunk.toString("utf8", start, end);
      start = end + 1;
      const pause = onLine(line);
      if (pause) await pause;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }

  /** What has come of a line without its end. */
  rest(): string {
    return Buffer.concat(this.#pieces).toString();
  }
}
