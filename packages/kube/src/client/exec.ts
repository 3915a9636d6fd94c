/** A command that runs in a container. */
import { PassThrough, type Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ObjectKey } from "../objects/key.ts";
import type { ExecConnection, Transport } from "../transport/transport.ts";
import type { ExecOptions } from "./options.ts";

/** What a command has said and how it ended. */
export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/**
 * Caveats: what the command says cannot be slowed down; what nobody reads of `stdout` and `stderr` stays in memory.
 *
 * @example
 * const { stdout, exitCode } = await (await client.exec(pod, { command: ["uname", "-r"] })).result();
 */
export class Exec {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What the command reads; to be ended. Takes no more than the connection does. Without `stdin: true` it goes nowhere. */
  readonly stdin: Writable;
  /** Rejects with KUBE_EXEC_FAILED if the command could not be run, or the connection was lost. */
  readonly exitCode: Promise<number>;
  readonly #connection: ExecConnection;

  private constructor(connection: ExecConnection, stdout: PassThrough, stderr: PassThrough) {
    this.#connection = connection;
    this.stdout = stdout;
    this.stderr = stderr;
    this.exitCode = connection.exitCode;
    this.stdin = new Writable({
      write(chunk, _encoding, done) {
        Promise.resolve(connection.write(chunk)).then(() => done(), done);
      },
      final(done) {
        connection.endInput();
        done();
      },
    });
    const endOutput = () => {
      stdout.end();
      stderr.end();
    };
    this.exitCode.then(endOutput, endOutput);
  }

  /** @internal Use `client.exec`. */
  static async start(transport: Transport, pod: ObjectKey, options: ExecOptions): Promise<Exec> {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const connection = await transport.exec({
      pod,
      container: options.container,
      command: options.command,
      stdin: options.stdin ?? false,
      tty: options.tty ?? false,
      signal: options.signal,
      onOutput: (stream, bytes) => (stream === "stdout" ? stdout : stderr).write(bytes),
    });
    return new Exec(connection, stdout, stderr);
  }

  /** Tells a terminal its size. */
  resize(columns: number, rows: number): void {
    this.#connection.resize(columns, rows);
  }

  /** Waits for the end, and collects what was said until then. */
  async result(): Promise<ExecResult> {
    const [stdout, stderr, exitCode] = await Promise.all([text(this.stdout), text(this.stderr), this.exitCode]);
    return { stdout, stderr, exitCode };
  }

  /** Hangs up. What becomes of the command is the container runtime's affair. */
  close(): void {
    this.#connection.close();
  }
}
