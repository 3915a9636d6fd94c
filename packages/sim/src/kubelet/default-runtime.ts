/** How long containers run if nobody has a better idea: by annotation, by what their command says, or by their pod's kind. */
import type { coreV1 } from "@berth/kube";
import { behaviourOf } from "./annotations.ts";
import { scriptOf } from "./commands.ts";
import { environmentOf, expanded } from "./environment.ts";
import type { Run, Runtime, Stopping } from "./runtime.ts";

export interface DefaultRuntimeOptions {
  /** How long a container runs of which nothing is known and whose pod does not run for ever. Default: 1000. */
  readonly runMs?: number;
}

/**
 * The first of these that says something decides: annotations (see `annotations.ts`; not for init containers), the command
 * if it is a simple one (see `commands.ts`), the restart policy (Always: for ever), and else one second and success.
 */
export class DefaultRuntime implements Runtime {
  readonly #runMs: number;

  constructor({ runMs = 1000 }: DefaultRuntimeOptions = {}) {
    this.#runMs = runMs;
  }

  started(run: Run): void {
    const { pod, container } = run;
    const isInit = isInitContainer(pod, container);
    const { runMs, exitCode = 0 } = isInit ? {} : behaviourOf(pod);
    const script = runMs === undefined ? this.#scriptOf(run) : undefined;
    if (script) {
      for (const { afterMs, text } of script.lines) run.log(text, afterMs);
      if (script.endsAfterMs !== undefined) run.endIn(script.endsAfterMs, { exitCode: script.exitCode || exitCode });
      return;
    }
    const policy = container.restartPolicy ?? (isInit ? "Never" : pod.spec?.restartPolicy);
    const isForEver = runMs === undefined && (policy === "Always" || policy === undefined);
    run.log(`${container.name} started`);
    if (isForEver) return;
    const milliseconds = runMs ?? this.#runMs;
    run.log(`${container.name} ended with exit code ${exitCode}`, milliseconds);
    run.endIn(milliseconds, { exitCode });
  }

  stopping({ pod }: Run): Stopping {
    const { terminationDelayMs } = behaviourOf(pod);
    return terminationDelayMs === undefined ? {} : { afterMs: terminationDelayMs };
  }

  #scriptOf({ pod, container }: Run) {
    const { command = [], args = [] } = container;
    if (command.length + args.length === 0) return undefined;
    const variables = environmentOf(pod, container);
    // An image's own program is not known; if only arguments are given, they may well be a command.
    return scriptOf(
      [...command, ...args].map((word) => expanded(word, variables)),
      variables,
    );
  }
}

function isInitContainer({ spec }: coreV1.Pod, { name }: coreV1.Container): boolean {
  return spec?.initContainers?.some((each) => each.name === name) ?? false;
}
