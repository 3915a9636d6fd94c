import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scriptOf } from "./commands.ts";

const NOTHING = new Map<string, string>();
const shell = (script: string, variables: ReadonlyMap<string, string> = NOTHING) =>
  scriptOf(["sh", "-c", script], variables);
const end = (script: string) => {
  const read = shell(script);
  return read && [read.endsAfterMs, read.exitCode];
};

describe("scriptOf", () => {
  it("understands single commands", () => {
    expect(scriptOf(["sleep", "30"], NOTHING)).toEqual({ endsAfterMs: 30_000, exitCode: 0, lines: [] });
    expect(scriptOf(["/bin/true"], NOTHING)).toMatchObject({ endsAfterMs: 0, exitCode: 0 });
    expect(scriptOf(["false"], NOTHING)).toMatchObject({ exitCode: 1 });
    expect(scriptOf(["echo", "hello", "world"], NOTHING)?.lines).toEqual([{ afterMs: 0, text: "hello world" }]);
    expect(scriptOf(["sleep", "infinity"], NOTHING)?.endsAfterMs).toBeUndefined();
    expect(scriptOf(["tail", "-f", "/dev/null"], NOTHING)?.endsAfterMs).toBeUndefined();
  });

  it("understands scripts", () => {
    expect(end("sleep 5; exit 1")).toEqual([5000, 1]);
    expect(end("exit 3")).toEqual([0, 3]);
    expect(end("sleep 1m && sleep 0.5")).toEqual([60_500, 0]);
    expect(end("false && sleep 10")).toEqual([0, 1]);
    expect(end("false || sleep 10")).toEqual([10_000, 0]);
    expect(end("true\nsleep 2 # and then\nfalse")).toEqual([2000, 1]);
    expect(end("exec sleep 4")).toEqual([4000, 0]);
    expect(end("exit 259")).toEqual([0, 3]);
    expect(scriptOf(["/bin/bash", "-ec", "exit 2"], NOTHING)).toMatchObject({ exitCode: 2 });
  });

  it("says what is said, and when", () => {
    const variables = new Map([["NAME", "pod-1"]]);
    expect(shell(`echo "I am $NAME"; sleep 2; echo 'bye $NAME' done`, variables)?.lines).toEqual([
      { afterMs: 0, text: "I am pod-1" },
      { afterMs: 2000, text: "bye $NAME done" },
    ]);
  });

  it("knows loops that never end", () => {
    const read = shell("while true; do echo tick; sleep 1; done");
    expect(read?.endsAfterMs).toBeUndefined();
    expect(read?.lines).toEqual([{ afterMs: 0, text: "tick" }]);
  });

  it.each([
    "perl -e 1",
    "sleep 5 | cat",
    "sleep 5 &",
    "if true; then sleep 1; fi",
    "echo $(date)",
    "echo `date`",
    "echo 'unfinished",
    "for i in 1 2; do sleep 1; done",
    "echo > /tmp/x",
  ])("leaves %s to others", (script) => {
    expect(shell(script)).toBeUndefined();
  });

  it("leaves programs to others that it does not know", () => {
    expect(scriptOf(["nginx"], NOTHING)).toBeUndefined();
    expect(scriptOf(["sh", "/script.sh"], NOTHING)).toBeUndefined();
    expect(scriptOf([], NOTHING)).toMatchObject({ exitCode: 0 });
  });

  it("never fails, whatever it is given", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (words, script) => {
        scriptOf(words, NOTHING);
        const read = shell(script);
        if (read?.endsAfterMs !== undefined) expect(read.endsAfterMs).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
