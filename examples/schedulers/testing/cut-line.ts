/** A line to the gateway that breaks: answers get lost on it, whole or in part. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export class CutLine implements AsyncDisposable {
  readonly url: string;
  readonly #server;
  readonly #sockets: Set<Socket>;
  readonly #cuts: { count: number };

  private constructor(
    url: string,
    server: ReturnType<typeof createServer>,
    sockets: Set<Socket>,
    cuts: { count: number },
  ) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
    this.#cuts = cuts;
  }

  /** @param lost - Which answers get lost, counted from 0. */
  static async to(url: string, lost: readonly number[]): Promise<CutLine> {
    const { hostname, port } = new URL(url);
    const sockets = new Set<Socket>();
    const cuts = { count: 0 };
    let answers = 0;
    const server = createServer((near) => {
      const far = connect(Number(port), hostname);
      const cut = () => {
        near.destroy();
        far.destroy();
      };
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on("error", cut).on("close", () => {
          sockets.delete(socket);
          cut();
        });
      }
      near.pipe(far);
      far.on("data", (chunk) => {
        if (!lost.includes(answers++)) return near.write(chunk);
        cuts.count++;
        // Sometimes a part gets through.
        near.write(chunk.subarray(0, cuts.count % 2 === 0 ? chunk.length >> 1 : 0), cut);
        return false;
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new CutLine(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, sockets, cuts);
  }

  /** How many answers have been lost. */
  get cuts(): number {
    return this.#cuts.count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
